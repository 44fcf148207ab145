"use strict";

// The page: the mechanism in space, its controls, and what tests may read of it.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const vector = (parts) => new THREE.Vector3(...parts);
const spin = (parts) => new THREE.Quaternion(parts[1], parts[2], parts[3], parts[0]);
const INK = 0x222222;
const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const LONGEST = 60; // s, that a run takes at the first speed
const POLL = 250; // ms
const LOOKS = 60; // frames that the size of the motion is taken from
const ARROWS = {
  force: { title: "Forces", colour: "#b5391e" },
  torque: { title: "Torques", colour: "#d9822b" },
  reaction: { title: "Reactions", colour: "#1f6fb2" },
  "reaction torque": { title: "Reaction torques", colour: "#6a4c93" },
  ...(data.touches ? { contact: { title: "Contact forces", colour: "#b3007d" } } : {}),
};
const TOGGLES = {
  bodies: "Bodies",
  ...(data.bodies.some((body) => body.touching.length) ? { touching: "Collision shapes" } : {}),
  joints: "Joints",
  lines: "Springs, guides",
  grid: "Grid",
  shadows: "Shadows",
  frames: "Body frames",
  axes: "Joint axes",
  names: "Names",
  ...Object.fromEntries(Object.entries(ARROWS).map(([what, { title }]) => [what, title])),
};
const SHOWN_AT_FIRST = ["bodies", ...(data.shapes ? ["touching"] : []), "joints", "lines", "grid", "shadows", "contact"];

const motion = new Motion(data.bodies.length, data.joints.length, data.curves.length, data.strands, data.skins);
const low = vector(data.low);
const high = vector(data.high);
const span = Math.max(high.x - low.x, high.y - low.y, high.z - low.z);
const size = data.size;
const up = vector(data.camera.up);
const rise = vector(data.up); // against gravity
const still = { time: 0, playing: false, speed: 1, loop: true, follow: data.follow, done: !data.live && !data.session, lost: false, drawn: -1 };
const show = Object.fromEntries(Object.keys(TOGGLES).map((name) => [name, SHOWN_AT_FIRST.includes(name)]));
const errors = [];
window.addEventListener("error", (event) => errors.push(String(event.message)));

// ------------------------------------------------------------------------------------------- the scene

const canvas = byId("view");
const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
renderer.setClearColor(0xfafaf8);
renderer.shadowMap.enabled = true;
renderer.shadowMap.type = THREE.PCFShadowMap;
const scene = new THREE.Scene();
const camera = new THREE.PerspectiveCamera(32, 1, span / 1000, span * 1000);
camera.up.copy(up);
const controls = new THREE.OrbitControls(camera, canvas);
controls.enableDamping = false;
scene.add(camera, new THREE.HemisphereLight(0xffffff, 0xc9c9c4, 1.9));
const lamp = new THREE.DirectionalLight(0xffffff, 0.8);
lamp.position.set(-1, 2, 3);
camera.add(lamp); // what is looked at is lit
const right = vector(data.camera.right);
const towards = right.clone().cross(up);
const land = new Ground(scene, { rise, towards, right, level: data.floor });

const layers = Object.fromEntries(Object.keys(TOGGLES).map((name) => [name, []])); // objects by what shows them
const CLEAR = 0.45; // opacity of what is shown over the solids of a body
const toColour = (number) => new THREE.Color(data.colours[number % data.colours.length]);

function geometryOf(part) {
  const [a, b, c] = part.sizes;
  if (part.kind === "box") return new THREE.BoxGeometry(a, b, c);
  if (part.kind === "cylinder") return new THREE.CylinderGeometry(a, a, b, 48).rotateX(Math.PI / 2);
  if (part.kind === "capsule") return new THREE.CapsuleGeometry(a, b, 8, 20).rotateX(Math.PI / 2);
  if (part.kind === "sphere") return new THREE.SphereGeometry(a, 32, 20);
  if (part.kind === "ellipsoid") return new THREE.SphereGeometry(1, 36, 24).scale(a, b, c);
  const indexed = new THREE.BufferGeometry();
  indexed.setAttribute("position", new THREE.BufferAttribute(decoded(part.vertices, Float32Array), 3));
  indexed.setIndex(new THREE.BufferAttribute(decoded(part.triangles, Uint32Array), 1));
  return indexed;
}

function solidOf(part, own, number, opacity = 1) {
  const colour = part.colour ? new THREE.Color().setRGB(...part.colour.slice(0, 3), THREE.SRGBColorSpace) : own;
  const geometry = geometryOf(part);
  const flat = part.kind === "box" || part.kind === "mesh";
  if (!flat || !geometry.attributes.normal) geometry.computeVertexNormals();
  const look = { color: colour, flatShading: flat, side: part.kind === "mesh" ? THREE.DoubleSide : 0 };
  const alpha = opacity * (part.colour ? part.colour[3] : 1);
  if (alpha < 1) Object.assign(look, { transparent: true, opacity: alpha, depthWrite: false });
  // an order among faces in one plane, which would flicker
  const order = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 + 4 * (number % 64) };
  const mesh = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ ...look, ...order }));
  mesh.position.copy(vector(part.position));
  mesh.quaternion.copy(spin(part.quat));
  mesh.receiveShadow = true;
  mesh.castShadow = alpha === 1;
  const thin = part.sizes.length > 0 && Math.min(...part.sizes) < 0.004 * span; // would be all edge
  if (!thin && (part.kind !== "mesh" || geometry.index.count < 6000)) {
    const edges = new THREE.LineBasicMaterial({ color: colour.clone().multiplyScalar(0.55) });
    mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 35), edges));
  }
  return mesh;
}

function thickLine(points, colour, width) {
  const geometry = new THREE.LineGeometry();
  geometry.setPositions(points.length ? points : [0, 0, 0, 0, 0, 0]);
  const line = new THREE.Line2(geometry, new THREE.LineMaterial({ color: colour, linewidth: width }));
  line.frustumCulled = false;
  return line;
}

// Seen through the bodies that it lies in.
function inFront(line) {
  line.material.depthTest = false;
  line.material.transparent = true;
  return line;
}

const listed = data.bodies.map(({ name, rotor }, number) => ({ name, number, rotor })).filter((body) => !body.rotor);
const groups = data.bodies.map((body, number) => {
  const group = new THREE.Group();
  const colour = toColour(body.colour).lerp(new THREE.Color(0xffffff), 0.12);
  const solids = new THREE.Group();
  for (const part of body.parts) solids.add(solidOf(part, colour, number));
  group.add(solids);
  layers.bodies.push(solids);
  if (body.touching.length) {
    const shapes = new THREE.Group();
    for (const part of body.touching) shapes.add(solidOf(part, colour, number, data.shapes ? 1 : CLEAR));
    group.add(shapes);
    layers.touching.push(shapes);
  }
  group.traverse((each) => (each.userData.body = number));
  const arms = new THREE.Group();
  [0xc23b3b, 0x3b9a4b, 0x3b62c2].forEach((own, axis) => {
    const end = [0, 0, 0];
    end[axis] = 6 * size;
    arms.add(inFront(thickLine([0, 0, 0, ...end], own, 2.5)));
  });
  group.add(arms);
  layers.frames.push(arms);
  scene.add(group);
  return group;
});
const ground = new THREE.Group();
for (const part of data.world) ground.add(solidOf(part, new THREE.Color(0xd8d8d2), 63));
layers.bodies.push(ground);
scene.add(ground);
const groupOf = (body) => (body < 0 ? ground : groups[body]);

function addMark(mark) {
  const { symbol, radius, half } = mark;
  const dark = symbol === "ball" || symbol === "weld";
  const look = new THREE.MeshLambertMaterial({ color: symbol === "weld" && mark.grounded ? 0x9a9a94 : dark ? 0x333333 : 0xffffff });
  let geometry = new THREE.SphereGeometry(0.8 * half, 24, 16);
  if (symbol === "pin") geometry = new THREE.CylinderGeometry(0.62 * radius, 0.62 * radius, 2 * half, 24).rotateX(Math.PI / 2);
  const clamp = symbol === "weld" && mark.grounded;
  if (symbol === "weld") geometry = clamp ? new THREE.BoxGeometry(5 * half, 5 * half, 1.4 * half).translate(0, 0, -0.7 * half) : new THREE.BoxGeometry(half, half, half);
  if (symbol === "slider") geometry = new THREE.BoxGeometry(2.6 * radius, 2.6 * radius, 4.4 * radius);
  if (symbol === "ball" && !mark.grounded) geometry = new THREE.SphereGeometry(0.72 * half, 24, 16);
  const mesh = new THREE.Mesh(geometry, look);
  mesh.position.copy(vector(mark.point));
  mesh.quaternion.copy(spin(mark.quat));
  const edges = new THREE.LineBasicMaterial({ color: INK });
  if (symbol !== "ball" && symbol !== "cross") mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 40), edges));
  mesh.castShadow = true;
  layers.joints.push(mesh);
  groupOf(mark.body).add(mesh);
  if (mark.grounded && mark.body < 0 && !clamp) addFoot(mark);
}

// A small foot of the ground beside a joint to the world.
function addFoot(mark) {
  const { radius } = mark;
  const foot = new THREE.Mesh(new THREE.ConeGeometry(1.9 * radius, 3 * radius, 4, 1), new THREE.MeshLambertMaterial({ color: 0x9a9a94, flatShading: true }));
  foot.geometry.rotateY(Math.PI / 4).translate(0, -1.5 * radius, 0);
  foot.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), data.stands ? rise : rise.clone().negate());
  foot.position.copy(vector(mark.point));
  layers.joints.push(foot);
  ground.add(foot);
}

function addAxes(joint) {
  for (const { body, axis, slides } of joint.axes) {
    const along = vector(axis).multiplyScalar(7 * size);
    const ends = [-along.x, -along.y, -along.z, along.x, along.y, along.z];
    const line = inFront(thickLine(ends, slides ? 0x2b8a78 : 0xa33b7a, 2));
    if (body === joint.body) {
      line.position.copy(vector(joint.point));
      groupOf(body).add(line);
    } else {
      turning.push({ line, joint, body });
      scene.add(line);
    }
    layers.axes.push(line);
  }
}

// ------------------------------------------------------------------------------------------- lines between bodies

const REST = new THREE.Color(0x4a5568); // of a muscle without activation
const ACTIVE = new THREE.Color(0xd62728); // and of one at full activation
const turning = []; // axes fixed in one body that go through a point of another
let arcs = 0;
let activations = 0;
const strands = data.strands.map((strand) => {
  const coil = strand.look === "coil";
  const ends = strand.bodies.length === 2;
  let line;
  if (coil && ends) line = new THREE.Mesh(coilGeometry(), new THREE.MeshLambertMaterial({ color: 0x444444 }));
  else line = thickLine(new Array(3 * strand.points.length).fill(0), 0x444444, 2);
  if (strand.look === "rod" || strand.look === "piston") Object.assign(line.material, { worldUnits: true, linewidth: 1.2 * size });
  const wraps = strand.wraps.map((body) => (body < -1 ? null : { body, first: ARC_POINTS * arcs++ }));
  const activation = strand.activated ? activations++ : -1;
  scene.add(line);
  layers.lines.push(line);
  return { ...strand, line, coil: coil && ends, points: strand.points.map(vector), wraps, activation };
});
let vertices = 0;
const surface = new THREE.MeshLambertMaterial({ color: 0xd8825a, flatShading: true, side: THREE.DoubleSide, transparent: true, opacity: 0.85 });
const wire = new THREE.LineBasicMaterial({ color: 0xb0562e });
const skins = data.skins.map((skin) => {
  const { count } = skin;
  const mesh = skinOf(skin, surface, wire);
  scene.add(mesh);
  layers.bodies.push(mesh);
  vertices += count;
  return { mesh, first: vertices - count };
});
const guides = data.guides.map((guide) => {
  const line = thickLine([0, 0, 0, 1, 0, 0], 0x8a8a84, 2);
  scene.add(line);
  layers.lines.push(line);
  return { ...guide, line };
});
for (const track of data.tracks) {
  const line = thickLine(track.flat(), 0x8a8a84, 2);
  scene.add(line);
  layers.lines.push(line);
}

// Triangles or lines between vertices that move.
function skinOf({ faces, corners, count }, surface, wire) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
  geometry.setIndex(new THREE.BufferAttribute(decoded(faces, Uint32Array), 1));
  const mesh = corners === 2 ? new THREE.LineSegments(geometry, wire) : new THREE.Mesh(geometry, surface);
  mesh.frustumCulled = false;
  return mesh;
}

// A spring from the origin along z, of length and width one.
function coilGeometry() {
  const turns = 9;
  const points = [new THREE.Vector3(0, 0, 0), new THREE.Vector3(0, 0, 0.08)];
  for (let k = 0; k <= 16 * turns; k++) {
    const angle = (k / 16) * 2 * Math.PI;
    points.push(new THREE.Vector3(Math.cos(angle), Math.sin(angle), 0.1 + (0.8 * k) / (16 * turns)));
  }
  points.push(new THREE.Vector3(0, 0, 0.92), new THREE.Vector3(0, 0, 1));
  return new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), 260, 0.14, 5);
}

function inWorld(body, point, target, own = groups) {
  return body < 0 ? target.copy(point) : target.copy(point).applyQuaternion(own[body].quaternion).add(own[body].position);
}

const someA = new THREE.Vector3();
const someB = new THREE.Vector3();
const Z = new THREE.Vector3(0, 0, 1);

// Points in the world along a line, and along the surfaces that it wraps around.
function alongStrand({ bodies, points, wraps }, place, run = motion, own = groups) {
  const found = [];
  bodies.forEach((body, k) => {
    found.push(...inWorld(body, points[k], someA, own).toArray());
    const wrap = wraps[k];
    if (!wrap || !run.count) return;
    for (let n = 0; n < ARC_POINTS; n++) {
      found.push(...inWorld(wrap.body, run.arcPoint(wrap.first + n, place, someB), someA, own).toArray());
    }
  });
  return found;
}

function placeStrands(place) {
  for (const strand of strands) {
    const { line, coil, bodies, points, activation } = strand;
    if (!line.visible) continue;
    if (activation >= 0 && motion.count) {
      const share = motion.activation(activation, place);
      line.material.color.lerpColors(REST, ACTIVE, share);
      line.material.linewidth = 2 + 3 * share;
    }
    if (coil) {
      inWorld(bodies[0], points[0], someA);
      inWorld(bodies[1], points[1], someB).sub(someA);
      const length = someB.length();
      line.position.copy(someA);
      if (length > 0) line.quaternion.setFromUnitVectors(Z, someB.divideScalar(length));
      line.scale.set(1.5 * size, 1.5 * size, Math.max(length, 1e-6 * span));
    } else {
      line.geometry.setPositions(alongStrand(strand, place));
    }
  }
  for (const { line, joint, body } of turning) {
    inWorld(joint.body, someB.set(...joint.point), line.position);
    line.quaternion.copy(groupOf(body).quaternion);
  }
}

function placeSkins(place) {
  if (!motion.count) return;
  for (const { mesh, first } of skins) {
    const { position } = mesh.geometry.attributes;
    motion.skin(first, place, position.array);
    position.needsUpdate = true;
  }
}

// Guides reach as far as the motion so far.
function placeGuides() {
  const quaternion = new THREE.Quaternion();
  for (const guide of guides) {
    const point = vector(guide.point);
    const axis = vector(guide.axis);
    const slid = vector(guide.slid);
    let least = Infinity;
    let most = -Infinity;
    for (let frame = 0; frame < motion.count; frame++) {
      motion.pose(guide.body, { frame, share: 0 }, someA, quaternion);
      const way = someB.copy(slid).applyQuaternion(quaternion).add(someA).sub(point).dot(axis);
      least = Math.min(least, way);
      most = Math.max(most, way);
    }
    if (!motion.count) continue;
    const ends = [least - 4 * size, most + 4 * size].flatMap((way) => someA.copy(axis).multiplyScalar(way).add(point).toArray());
    guide.line.geometry.setPositions(ends);
  }
}

// ------------------------------------------------------------------------------------------- other runs

const ghosts = (data.others || []).map((other, number) => new Ghost(scene, other, GHOST_COLOURS[number % GHOST_COLOURS.length]));
for (const ghost of ghosts) {
  layers.bodies.push(ghost.solids);
  layers.lines.push(ghost.lines);
}

function writeRuns() {
  if (!ghosts.length) return;
  const rows = [{ name: data.name, colour: data.colours[0] }, ...ghosts];
  byId("runs").replaceChildren(
    ...rows.map(({ name, colour }, number) => {
      const row = document.createElement("span");
      const key = document.createElement("i");
      key.style.background = colour;
      key.style.opacity = number ? GHOST : 1;
      row.append(key, name, number ? " (translucent, dashed)" : "");
      return row;
    }),
  );
}

// ------------------------------------------------------------------------------------------- arrows

const arrowMeshes = new Map(); // what: meshes by number

function arrowMesh(colour, what) {
  const look = new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true }); // before all else
  const group = new THREE.Group();
  const shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0).rotateX(Math.PI / 2), look);
  const tip = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 16).translate(0, -0.5, 0).rotateX(Math.PI / 2), look);
  group.add(shaft, tip);
  if (what === "contact") group.add(new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), look)); // the point itself
  scene.add(group);
  return group;
}

function placeArrows(place) {
  const longest = 0.2 * span * 10 ** Number(byId("scale").value);
  for (const [what, { colour }] of Object.entries(ARROWS)) {
    const known = motion.arrows.get(what);
    const meshes = arrowMeshes.get(what) || [];
    if (!show[what] || !known || !known.typical) {
      for (const mesh of meshes) if (mesh) mesh.visible = false;
      continue;
    }
    const touching = what === "contact" ? motion.touching(known, place) : null;
    const count = touching ? Math.max(touching.count, meshes.length) : known.width;
    for (let number = 0; number < count; number++) {
      if (!touching) motion.arrow(known, number, place, someA);
      else if (number < touching.count) someA.fromArray(known.values, 3 * (touching.first + number));
      else someA.set(0, 0, 0);
      const length = Math.min(3, someA.length() / known.typical) * longest;
      if (!meshes[number] && length > 0.004 * longest) meshes[number] = arrowMesh(colour, what);
      const mesh = meshes[number];
      if (!mesh) continue;
      mesh.visible = length > 0.004 * longest;
      if (!mesh.visible) continue;
      const joint = data.joints[number];
      if (touching) mesh.position.fromArray(known.points, 3 * (touching.first + number));
      else if (what.startsWith("reaction")) inWorld(joint.body, someB.set(...joint.point), mesh.position);
      else mesh.position.copy(groups[number].position);
      mesh.quaternion.setFromUnitVectors(Z, someA.normalize());
      const head = Math.min(3.4 * size, 0.5 * length);
      const thick = Math.min(0.36 * size, 0.2 * length);
      mesh.children[0].scale.set(thick, thick, Math.max(length - head, 1e-9));
      mesh.children[1].position.set(0, 0, length);
      mesh.children[1].scale.set(2.6 * thick, 2.6 * thick, head);
      if (touching) mesh.children[2].scale.setScalar(2 * thick);
    }
    arrowMeshes.set(what, meshes);
  }
}

function writeLegend() {
  const rows = Object.entries(ARROWS).filter(([what]) => show[what] && motion.arrows.get(what));
  byId("legend").replaceChildren(
    ...rows.map(([what, { title, colour }]) => {
      const row = document.createElement("span");
      const key = document.createElement("i");
      key.style.background = colour;
      const value = document.createElement("b");
      row.append(key, `${title}: `, value);
      value.dataset.arrows = what;
      return row;
    }),
  );
  byId("scaling").hidden = !rows.length;
}

function placeLegend({ frame }) {
  for (const value of byId("legend").querySelectorAll("b")) {
    const { largest, unit, typical } = motion.arrows.get(value.dataset.arrows);
    value.textContent = typical ? `up to ${short(largest[frame])} ${unit}` : "none in this run";
  }
}

// ------------------------------------------------------------------------------------------- traces and curves

const points = [
  ...data.traced.map((each) => ({ ...each, chosen: true })),
  ...listed.map(({ name, number }) => ({ name, kind: "body", body: number, point: [0, 0, 0] })),
  ...data.joints.filter((joint) => joint.body >= 0).map((joint) => ({ name: joint.name, kind: "joint", body: joint.body, point: joint.point })),
];
const TRACE_COLOURS = ["#b5391e", "#222222", ...data.colours];

function traceWay(trace) {
  const pieces = motion.pieces;
  const count = (motion.count - 1) * pieces + 1;
  const way = new Float32Array(3 * count);
  const quaternion = new THREE.Quaternion();
  const point = vector(trace.point);
  for (let place = 0; place < count; place++) {
    const frame = Math.floor(place / pieces);
    motion.pose(trace.body, { frame, share: motion.smooth[frame] ? (place % pieces) / pieces : 0 }, someA, quaternion);
    someB.copy(point).applyQuaternion(quaternion).add(someA).toArray(way, 3 * place);
  }
  return way;
}

function makeTrace(trace) {
  removeTrace(trace);
  if (motion.count < 2) return;
  const way = Array.from(traceWay(trace));
  const colour = new THREE.Color(trace.colour);
  trace.pieces = motion.pieces;
  trace.whole = thickLine(way, colour.clone().lerp(new THREE.Color(0xffffff), 0.7), 1.2);
  trace.sofar = thickLine(way, colour, 2.4);
  trace.dot = new THREE.Mesh(new THREE.SphereGeometry(0.9 * size, 16, 12), new THREE.MeshBasicMaterial({ color: colour }));
  scene.add(trace.whole, trace.sofar, trace.dot);
}

function removeTrace(trace) {
  for (const part of ["whole", "sofar", "dot"]) {
    if (!trace[part]) continue;
    scene.remove(trace[part]);
    trace[part].geometry.dispose();
    trace[part] = null;
  }
}

function chooseTrace(trace, chosen) {
  trace.chosen = chosen;
  const used = points.filter((each) => each.chosen && each !== trace).map((each) => each.colour);
  trace.colour = TRACE_COLOURS.find((each) => !used.includes(each)) || TRACE_COLOURS[0];
  if (chosen) makeTrace(trace);
  else removeTrace(trace);
  changed = true;
}

function placeTraces({ frame, share }) {
  for (const trace of points) {
    if (!trace.sofar) continue;
    const pieces = Math.floor((frame + share) * trace.pieces);
    trace.sofar.geometry.instanceCount = pieces;
    trace.sofar.visible = pieces > 0;
    inWorld(trace.body, someB.set(...trace.point), trace.dot.position);
  }
}

const firstCoordinate = data.curves.findIndex((curve) => curve.group === "coordinates");
const chosenCurves = new Set([...data.curves.keys()].filter((k) => data.curves[k].group === "energy" || k === firstCoordinate));
const plots = new Plots(byId("plots"), motion, data.curves, data.colours, (time) => seek(time));

// ------------------------------------------------------------------------------------------- names

const labels = listed.map((body) => {
  const label = document.createElement("span");
  label.textContent = body.name;
  byId("labels").append(label);
  return label;
});
const ray = new THREE.Raycaster();

function placeLabels() {
  byId("labels").hidden = !show.names;
  if (!show.names) return;
  labels.forEach((label, place) => {
    someA.copy(groups[listed[place].number].position).project(camera);
    const x = 0.5 * (someA.x + 1) * canvas.clientWidth;
    const y = 0.5 * (1 - someA.y) * canvas.clientHeight;
    label.style.display = someA.z < 1 ? "" : "none";
    label.style.transform = `translate(${x + 8}px, ${y - 18}px)`;
  });
}

function pointedAt(event) {
  const tip = byId("tip");
  tip.hidden = true;
  if (event.buttons) return;
  aim(event);
  const hit = hitBody();
  if (!hit) return;
  const number = hit.object.userData.body;
  const place = groups[number].position.toArray().map(short).join(", ");
  tip.textContent = `${data.bodies[number].name}\n(${place}) m`;
  tip.hidden = false;
  tip.style.transform = `translate(${Math.min(event.offsetX + 14, canvas.clientWidth - tip.clientWidth)}px, ${event.offsetY + 10}px)`;
}

// ------------------------------------------------------------------------------------------- dragged bodies

let dragging = null; // {pull: {body, point, to}} of a body that the pointer pulls, in the plane of the picture through the place "at"
const rope = inFront(thickLine([0, 0, 0, 0, 0, 0], 0xb5391e, 2.5));
rope.visible = false;
scene.add(rope);

function aim(event) {
  const at = new THREE.Vector2((2 * event.offsetX) / canvas.clientWidth - 1, 1 - (2 * event.offsetY) / canvas.clientHeight);
  ray.setFromCamera(at, camera);
}

function hitBody() {
  const shown = [...layers.bodies, ...(layers.touching || [])].filter((each) => each.visible);
  const [hit] = ray.intersectObjects(shown, true).filter((each) => each.object.isMesh);
  return hit && hit.object.userData.body !== undefined ? hit : null;
}

// Where a point is in the picture, px.
function onScreen(point) {
  someA.copy(point).project(camera);
  return [0.5 * (someA.x + 1) * canvas.clientWidth, 0.5 * (1 - someA.y) * canvas.clientHeight];
}

// Take hold of the body under the pointer, in a mechanism that is being stepped.
function grab(event) {
  if (!session || !still.playing || event.button !== 0) return;
  aim(event);
  const hit = hitBody();
  if (!hit) return;
  const number = hit.object.userData.body;
  const point = hit.point.clone().sub(groups[number].position).applyQuaternion(groups[number].quaternion.clone().invert());
  dragging = { at: hit.point.clone(), number, point, pull: { body: data.bodies[number].name, point: point.toArray(), to: hit.point.toArray() } };
  session.pull = dragging.pull;
  controls.enabled = false;
  canvas.setPointerCapture(event.pointerId);
  byId("tip").hidden = true;
  event.preventDefault();
}

function drag(event) {
  if (!dragging) return;
  aim(event);
  const { origin, direction } = ray.ray;
  const normal = controls.target.clone().sub(camera.position).normalize();
  const way = dragging.at.clone().sub(origin).dot(normal) / direction.dot(normal);
  dragging.pull.to = origin.clone().addScaledVector(direction, way).toArray();
}

function letGo() {
  if (!dragging) return;
  dragging = session.pull = null;
  controls.enabled = true;
  changed = true;
}

function placeRope() {
  rope.visible = Boolean(dragging);
  if (dragging) rope.geometry.setPositions([...inWorld(dragging.number, dragging.point, someA).toArray(), ...dragging.pull.to]);
}

// ------------------------------------------------------------------------------------------- camera

const SIDES = {
  Front: () => towards.clone().addScaledVector(up, 1e-4),
  Side: () => right.clone().addScaledVector(up, 1e-4),
  Top: () => up.clone().addScaledVector(towards, 1e-3),
  Oblique: () => towards.clone().add(right.clone().multiplyScalar(0.55)).addScaledVector(up, 0.42),
};

// The boxes around bodies, in their axes: corners as points.
const boundsOf = (solids) => {
  let box = null;
  for (const mesh of solids.children) {
    mesh.updateMatrix();
    mesh.geometry.computeBoundingBox();
    const own = mesh.geometry.boundingBox.clone().applyMatrix4(mesh.matrix);
    box = box ? box.union(own) : own;
  }
  const { min, max } = box || { min: new THREE.Vector3(), max: new THREE.Vector3() };
  return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => new THREE.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z));
};
const bounds = layers.bodies.slice(0, groups.length).map(boundsOf);
for (const ghost of ghosts) ghost.bounds = ghost.groups.map(boundsOf);

// Place of the followed body at the present time, or null.
function anchor() {
  if (still.follow < 0 || !motion.count) return null;
  const place = new THREE.Vector3();
  motion.pose(still.follow, motion.at(still.time), place, new THREE.Quaternion());
  return place;
}

// The corners of the box around the motion so far, seen from the followed body, or as it is without one.
function reach(centre = null) {
  const quaternion = new THREE.Quaternion();
  const shift = new THREE.Vector3();
  const least = new THREE.Vector3(Infinity, Infinity, Infinity);
  const most = least.clone().negate();
  const shifted = (frame) => {
    if (!centre) return;
    motion.pose(still.follow, { frame, share: 0 }, shift, quaternion);
    shift.subVectors(centre, shift);
  };
  if (motion.count) shifted(0);
  for (const corner of session && session.epoch ? [] : [low, high]) {
    someB.copy(corner).add(shift);
    least.min(someB);
    most.max(someB);
  }
  for (const { motion: own, bounds: boxes } of [{ motion, bounds }, ...ghosts]) {
    for (let frame = 0; frame < own.count; frame += Math.max(1, Math.floor(own.count / LOOKS))) {
      if (centre) shifted(own === motion ? frame : motion.at(own.t[frame]).frame);
      boxes.forEach((corners, body) => {
        own.pose(body, { frame, share: 0 }, someA, quaternion);
        for (const corner of corners) {
          someB.copy(corner).applyQuaternion(quaternion).add(someA).add(shift);
          least.min(someB);
          most.max(someB);
        }
      });
    }
  }
  return [least, most];
}

let framed = null; // the side from which all is in the picture, until the camera is moved by hand

// How far the bodies reach at the present time, of half the width and half the height of the picture.
function spread() {
  const far = [0, 0];
  bounds.forEach((corners, body) => {
    for (const corner of data.bodies[body].parts.length ? corners : []) {
      inWorld(body, corner, someA).project(camera);
      far[0] = Math.max(far[0], Math.abs(someA.x));
      far[1] = Math.max(far[1], Math.abs(someA.y));
    }
  });
  return far;
}

function look(side) {
  framed = side;
  followed = anchor();
  const [least, most] = reach(followed);
  const middle = least.clone().add(most).multiplyScalar(0.5);
  const direction = SIDES[side]().normalize();
  const across = up.clone().cross(direction).normalize();
  const above = direction.clone().cross(across);
  let [wide, tall, deep] = [0, 0, 0];
  for (let k = 0; k < 8; k++) {
    const corner = new THREE.Vector3(k & 1 ? most.x : least.x, k & 2 ? most.y : least.y, k & 4 ? most.z : least.z).sub(middle);
    wide = Math.max(wide, Math.abs(corner.dot(across)));
    tall = Math.max(tall, Math.abs(corner.dot(above)));
    deep = Math.max(deep, Math.abs(corner.dot(direction)));
  }
  const tangent = Math.tan((camera.fov * Math.PI) / 360);
  const distance = deep + 1.12 * Math.max(tall / tangent, wide / (tangent * camera.aspect), 2 * size);
  controls.target.copy(middle);
  camera.position.copy(middle).addScaledVector(direction, distance);
  land.shine(middle, 0.75 * most.distanceTo(least));
  camera.near = distance / 500;
  camera.far = distance * 50;
  camera.updateProjectionMatrix();
  controls.update();
  changed = true;
}

let followed = null;

function follow() {
  if (still.follow < 0) {
    followed = null;
    return;
  }
  const place = groups[still.follow].position;
  if (followed) {
    const shift = place.clone().sub(followed);
    controls.target.add(shift);
    camera.position.add(shift);
    land.follow(shift);
  }
  followed = place.clone();
}

function makeGrid() {
  land.lay(...reach(), data.stands && data.marks.some((mark) => mark.grounded && mark.body < 0) ? 3 * size : 0.002 * span);
  land.grid.visible = show.grid;
  layers.grid = [land.grid];
}

// ------------------------------------------------------------------------------------------- time

let changed = true;
let last = null;
let session = null; // of a mechanism that the page steps
const finder = data.session ? null : new Finder(byId("toggles").closest("details"), data.curves, motion, { play, seek, still });

function seek(time) {
  still.time = Math.min(motion.end, Math.max(motion.start, time));
  if (session) session.behind = still.time < motion.end;
  changed = true;
}

function step(frames) {
  play(false);
  if (session && frames > 0 && still.time >= motion.end) {
    session.step();
    return;
  }
  const { frame, share } = motion.at(still.time);
  const from = share > 0 && frames < 0 ? frame + 1 : frame;
  const to = Math.min(motion.count - 1, Math.max(0, from + frames));
  if (motion.count) seek(motion.t[to]);
}

function play(on) {
  if (session) {
    session.enable(!on);
    if (!on) letGo();
    if (!on && still.playing) session.pause(); // what is seen is what is set
  }
  if (on && still.time >= motion.end && still.done) still.time = motion.start;
  still.playing = on;
  const icon = on ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2l10 6-10 6z";
  byId("play").querySelector("path").setAttribute("d", icon);
  byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
}

function advance(seconds) {
  const next = still.time + seconds * still.speed;
  if (next < motion.end) still.time = next;
  else if (!still.done) seek(motion.end);
  else if (still.loop && motion.end > motion.start) still.time = motion.start + ((next - motion.start) % (motion.end - motion.start));
  else {
    still.time = motion.end;
    play(false);
  }
  changed = true;
}

function setSpeed(speed) {
  still.speed = speed;
  byId("speed").value = String(speed);
}

function clockText() {
  const digits = Math.min(6, Math.max(1, Math.ceil(-Math.log10((motion.end - motion.start) / 1000 || 1))));
  return `t = ${still.time.toFixed(digits)} / ${motion.end.toFixed(Math.min(digits, 3))} s`;
}

function draw(now) {
  if (still.playing && last !== null && motion.count) advance(Math.min(0.25, (now - last) / 1000));
  last = now;
  if (changed && motion.count) {
    changed = false;
    const place = motion.at(still.time);
    groups.forEach((group, number) => motion.pose(number, place, group.position, group.quaternion));
    follow();
    controls.update();
    if (framed && !still.done && Math.max(...spread()) > 1) look(framed);
    placeStrands(place);
    placeSkins(place);
    for (const ghost of ghosts) ghost.place(still.time);
    placeArrows(place);
    placeLegend(place);
    placeTraces(place);
    placeRope();
    renderer.render(scene, camera);
    placeLabels();
    plots.at(still.time, place);
    if (finder) finder.show(place);
    byId("clock").textContent = clockText();
    still.drawn = still.time;
    const scrub = byId("scrub");
    scrub.min = motion.start;
    scrub.max = motion.end;
    scrub.value = still.time;
  }
  requestAnimationFrame(draw);
}

function resize() {
  const { clientWidth, clientHeight } = byId("stage");
  renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
  renderer.setSize(clientWidth, clientHeight, false);
  camera.aspect = clientWidth / Math.max(1, clientHeight);
  camera.updateProjectionMatrix();
  if (framed) look(framed);
  plots.redraw();
  changed = true;
}

// ------------------------------------------------------------------------------------------- frames as they come

function take(chunk, anew = false) {
  const first = motion.count === 0;
  if (anew) motion.clear();
  motion.add(chunk);
  if (anew) still.time = motion.start;
  still.done = session ? false : chunk.done !== false;
  if (first && motion.count) {
    still.time = motion.start;
    look(data.camera.flat ? "Front" : "Oblique");
  }
  changed = true;
  if (session && !anew && still.playing && performance.now() - refreshed < REDRAW) return;
  refreshed = performance.now();
  if (finder) finder.measure();
  placeGuides();
  makeGrid();
  for (const trace of points) if (trace.chosen) makeTrace(trace);
  plots.redraw();
  writeLegend();
}

let refreshed = 0; // ms, when all curves and traces were drawn last

function tell(...more) {
  byId("notes").classList.toggle("told", Boolean(session && more.some(Boolean)));
  byId("notes").textContent = [...data.notes, ...more].filter(Boolean).join(" · ");
}

async function poll() {
  try {
    const chunk = await (await fetch(`frames?from=${motion.count}`)).json();
    take(chunk);
    const now = chunk.share < 1 ? `computing, ${Math.floor(100 * chunk.share)} %` : "loading";
    tell(chunk.done ? chunk.message : now);
    if (!chunk.done) setTimeout(poll, chunk.more ? 0 : POLL);
  } catch {
    still.done = still.lost = true;
    tell("varint view has ended: no more frames will come");
  }
}

// ------------------------------------------------------------------------------------------- controls

function checkbox(place, text, checked, act, small = "") {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = checked;
  box.addEventListener("change", () => act(box.checked));
  label.append(box, text);
  if (small) {
    const more = document.createElement("small");
    more.textContent = ` ${small}`;
    label.append(more);
  }
  label.title = text;
  place.append(label);
  return box;
}

function toggle(name, on) {
  show[name] = on;
  for (const each of layers[name]) each.visible = on;
  if (name in ARROWS) writeLegend();
  if (name === "shadows") land.cast(on);
  changed = true;
}

const boxes = Object.fromEntries(
  Object.entries(TOGGLES).map(([name, title]) => {
    const box = checkbox(byId("toggles"), title, show[name], (on) => toggle(name, on));
    box.dataset.toggle = name;
    return [name, box];
  }),
);
for (const side of Object.keys(SIDES)) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = side;
  button.addEventListener("click", () => look(side));
  byId("sides").append(button);
}
byId("follow").append(new Option("nothing", "-1"), ...listed.map(({ name, number }) => new Option(name, String(number))));
byId("follow").value = String(still.follow);
byId("follow").addEventListener("change", (event) => {
  still.follow = Number(event.target.value);
  followed = null;
  changed = true;
});
data.curves.forEach((curve, number) => {
  const box = checkbox(byId("curves"), curve.name, chosenCurves.has(number), (on) => {
    if (on) chosenCurves.add(number);
    else chosenCurves.delete(number);
    plots.choose([...chosenCurves].sort((a, b) => a - b));
    changed = true;
  }, curve.unit);
  box.dataset.curve = curve.name;
});
for (const trace of points) {
  const box = checkbox(byId("traces"), trace.name, Boolean(trace.chosen), (on) => chooseTrace(trace, on), trace.kind || "");
  box.dataset.trace = trace.name;
  if (trace.chosen) chooseTrace(trace, true);
}
byId("speed").append(...SPEEDS.map((speed) => new Option(`${speed}×`, String(speed))));
byId("speed").addEventListener("change", (event) => (still.speed = Number(event.target.value)));
byId("loop").addEventListener("change", (event) => (still.loop = event.target.checked));
byId("play").addEventListener("click", () => play(!still.playing));
byId("back").addEventListener("click", () => step(-1));
byId("forward").addEventListener("click", () => step(1));
byId("scrub").addEventListener("input", (event) => {
  play(false);
  seek(Number(event.target.value));
});
byId("scale").addEventListener("input", () => (changed = true));
byId("open").addEventListener("click", () => panel());
const recorder = new Recorder(canvas, byId("record"), data.title, () => session && session.save());
controls.addEventListener("change", () => (changed = true));
controls.addEventListener("start", () => (framed = null));
canvas.addEventListener("pointermove", pointedAt);
canvas.addEventListener("pointerdown", grab, true);
canvas.addEventListener("pointermove", drag);
for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, letGo);
canvas.addEventListener("pointerleave", () => (byId("tip").hidden = true));
new ResizeObserver(resize).observe(byId("stage"));

function panel() {
  byId("app").classList.toggle("bare");
  resize();
}

function faster(by) {
  const now = SPEEDS.findIndex((speed) => speed >= still.speed);
  setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, now + by))]);
}

const KEYS = {
  " ": () => play(!still.playing),
  ArrowLeft: (event) => step(event.shiftKey ? -10 : -1),
  ArrowRight: (event) => step(event.shiftKey ? 10 : 1),
  Home: () => seek(motion.start),
  End: () => seek(motion.end),
  "+": () => faster(1),
  "-": () => faster(-1),
  l: () => byId("loop").click(),
  Backspace: () => session && session.reset(),
  s: () => session && session.save(),
  n: () => boxes.names.click(),
  p: () => panel(),
  r: () => byId("record").click(),
  0: () => look(data.camera.flat ? "Front" : "Oblique"),
};
window.addEventListener("keydown", (event) => {
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  event.preventDefault();
  act(event);
});

// ------------------------------------------------------------------------------------------- begin

data.marks.forEach(addMark);
data.joints.forEach(addAxes);
for (const name of Object.keys(TOGGLES)) toggle(name, show[name]);
resize();
for (const ghost of ghosts) {
  motion.beyond = Math.max(motion.beyond, ghost.motion.end);
  const numbers = data.curves.map((curve) => ghost.curves.findIndex((each) => each.name === curve.name && each.unit === curve.unit));
  plots.others.push({ motion: ghost.motion, numbers });
}
writeRuns();
if (data.frames) take(data.frames);
plots.choose([...chosenCurves]);
const whole = data.live ? data.duration : motion.end - motion.start;
setSpeed(whole > LONGEST ? SPEEDS.find((speed) => speed >= whole / LONGEST) || 1000 : whole >= 1 || !whole ? 1 : whole > 0.2 ? 0.2 : 0.05);
play(false);
tell();
if (data.session) session = new Session(data.session, { take, tell, seek, play, still, motion });
if (data.live) {
  poll();
  play(true);
}
requestAnimationFrame(draw);

// To read, not to change: for tests.
Object.defineProperty(window, "varintView", {
  value: Object.freeze({
    state: () => ({
      time: still.time,
      shown: still.drawn, // time of what is seen
      settled: !changed, // all of this is seen
      frame: motion.count ? motion.at(still.time).frame : -1,
      frames: motion.count,
      start: motion.start,
      end: motion.end,
      playing: still.playing,
      speed: still.speed,
      loop: still.loop,
      done: still.done,
      lost: still.lost,
      follow: still.follow,
      show: { ...show },
      visible: Object.fromEntries(Object.keys(layers).map((name) => [name, layers[name].filter((each) => each.visible).length])),
      arrows: Object.fromEntries([...arrowMeshes].map(([what, meshes]) => [what, meshes.filter((mesh) => mesh && mesh.visible).length])),
      labels: show.names ? labels.length : 0,
      traces: points.filter((each) => each.chosen).map((each) => each.name),
      plots: plots.figures.map((figure) => figure.numbers.map((number) => data.curves[number].name)),
      values: plots.figures.map((figure) => figure.values.map((value) => value.textContent)),
      bodies: Object.fromEntries(data.bodies.map((body, number) => [body.name, groups[number].position.toArray()])),
      camera: camera.position.toArray(),
      spread: spread(),
      pull: dragging ? dragging.pull : null,
      screen: Object.fromEntries(data.bodies.map((body, number) => [body.name, onScreen(groups[number].position)])),
      target: controls.target.toArray(),
      drawn: renderer.info.render.triangles,
      grid: land.cell,
      floor: land.grid ? land.grid.position.dot(rise) : null,
      ghosts: ghosts.map((ghost) => Object.fromEntries(ghost.names.map((name, k) => [name, ghost.groups[k].position.toArray()]))),
      runs: [...byId("runs").querySelectorAll("span")].map((row) => row.textContent),
      message: session ? session.told : "",
      epoch: session ? session.epoch : 0,
      idle: !session || !session.pending,
      saved: session ? session.saved || 0 : 0,
      recording: Boolean(recorder.recorder),
      film: recorder.size || 0,
      notes: byId("notes").textContent,
      errors: [...errors],
    }),
  }),
});
