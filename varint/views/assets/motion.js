"use strict";

// The motion of a run: frames as they come, and what is between them.

const ARC_POINTS = 13; // of each piece of a line around a surface
const SMOOTH = Math.cos(0.5); // of half the angle: bodies that turn further from frame to frame are not shown between
const FURTHEST = 2.5; // rad from frame to frame, where velocities say how bodies turn
const AGREE = 0.1; // of the speeds at both ends: how far the mean speed may be from their mean, without an impact, ...
const FASTEST = 0.12; // ... or of the largest so far of the body, which matters where it turns back
const ROUNDED = 1e-4; // rad, and of the largest speed of all bodies: more than numbers of a page are rounded
const FLOAT = 1e-6; // of a distance from the origin: more than that is rounded
const STILL = 1e-9; // rad, of a turn that is none
const ALONE = 0; // how the motion from a frame to the next is shown: the frames alone, ...
const STRAIGHT = 1; // ... on a line, ...
const CURVED = 2; // ... or on the cubic curve that has the velocities of both frames
const PIECES = 8; // of the path of a point from frame to frame on such curves

function decoded(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return new Kind(bytes.buffer);
}

// How far a motion over h seconds is from that of the mean of both rates.
function apart(motion, first, last, h) {
  return Math.hypot(...[0, 1, 2].map((k) => motion[k] - 0.5 * h * (first[k] + last[k])));
}

// How far that may be where nothing strikes; ``fastest``: the largest speed of the body, ``most``: of all bodies.
function allowed(first, last, fastest, most, h) {
  return h * (Math.max(AGREE * (Math.hypot(...first) + Math.hypot(...last)), FASTEST * fastest) + ROUNDED * most);
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

// The rotation vector, rad, from the quaternion at place a of q to that at b, in axes of the first.
function rotationVector(q, a, b) {
  const [w, x, y, z] = [q[a], -q[a + 1], -q[a + 2], -q[a + 3]];
  const [W, X, Y, Z] = [q[b], q[b + 1], q[b + 2], q[b + 3]];
  const real = w * W - x * X - y * Y - z * Z;
  const part = [w * X + x * W + y * Z - z * Y, w * Y - x * Z + y * W + z * X, w * Z + x * Y - y * X + z * W];
  const sine = Math.hypot(...part);
  const sign = real < 0 ? -1 : 1;
  const factor = sine > STILL ? (sign * 2 * Math.atan2(sine, Math.abs(real))) / sine : 2 * sign;
  return part.map((each) => factor * each);
}

// The rate of a rotation vector at an angular velocity in axes of the turned body.
function rateOf(turn, velocity) {
  const angle = Math.hypot(...turn);
  const bend = angle > 1e-3 ? 1 / (angle * angle) - (1 + Math.cos(angle)) / (2 * angle * Math.sin(angle)) : 1 / 12;
  const once = cross(turn, velocity);
  const twice = cross(turn, once);
  return [0, 1, 2].map((k) => velocity[k] + 0.5 * once[k] + bend * twice[k]);
}

class Motion {
  constructor(bodies, joints, curves, strands, skins) {
    this.skinWidth = 3 * skins.reduce((sum, { count }) => sum + count, 0);
    this.arcWidth = 3 * ARC_POINTS * strands.flatMap(({ wraps }) => wraps).filter((body) => body > -2).length;
    this.activationWidth = strands.filter(({ activated }) => activated).length;
    this.bodies = bodies;
    this.joints = joints;
    this.curveCount = curves;
    this.beyond = -Infinity; // s, the end of other runs beside this one
    this.clear();
  }

  // Without frames.
  clear() {
    this.count = 0;
    this.t = new Float64Array(0);
    this.position = new Float32Array(0); // 3 a body and frame
    this.quat = new Float32Array(0); // 4 a body and frame: w, x, y, z
    this.curves = new Float32Array(0);
    this.arcs = new Float32Array(0); // 3 a point of the lines around surfaces, and frame
    this.skins = new Float32Array(0); // 3 a vertex of a surface that is deformed, and frame
    this.activations = new Uint8Array(0); // one a line that has one, and frame
    this.velocity = new Float32Array(0); // 6 a body and frame: m/s, world, and rad/s, body axes; empty without these
    this.fastest = new Float32Array(2 * this.bodies); // m/s and rad/s, of each body, so far
    this.smooth = new Uint8Array(0); // how the motion from each frame to the next is shown
    this.strikes = false; // whether velocities may jump
    this.pieces = 1; // of the path of a point from frame to frame
    this.arrows = new Map(); // what: {unit, width, values, largest, typical}
  }

  // The frames of a chunk, behind those that there are.
  add(chunk) {
    if (!chunk.count) return;
    const before = this.count;
    this.count += chunk.count;
    this.t = this.grown(this.t, 1, decoded(chunk.t, Float64Array), before);
    this.position = this.grown(this.position, 3 * this.bodies, decoded(chunk.position, Float32Array), before);
    const whole = decoded(chunk.quat, Int16Array);
    this.quat = this.grown(this.quat, 4 * this.bodies, Float32Array.from(whole, (part) => part / 32767), before);
    this.addVelocities(chunk.velocities, before, chunk.count);
    this.curves = this.grown(this.curves, this.curveCount, this.curvesOf(chunk), before);
    this.arcs = this.grown(this.arcs, this.arcWidth, decoded(chunk.arcs, Float32Array), before);
    this.skins = this.grown(this.skins, this.skinWidth, decoded(chunk.skins, Float32Array), before);
    this.activations = this.grown(this.activations, this.activationWidth, decoded(chunk.activations, Uint8Array), before);
    for (const each of chunk.arrows) this.addArrows(each, before, chunk.count);
    this.addContacts(chunk.contacts, before);
    this.smooth = this.grown(this.smooth, 1, new Uint8Array(chunk.count), before);
    for (let i = Math.max(0, before - 1); i + 1 < this.count; i++) {
      this.smooth[i] = this.shownBetween(i);
      if (this.smooth[i] === CURVED) this.pieces = PIECES;
    }
  }

  grown(array, width, more, before) {
    const needed = (before * width + more.length) | 0;
    let found = array;
    if (needed > array.length) {
      found = new array.constructor(before ? Math.max(needed, 2 * array.length) : needed);
      found.set(array.subarray(0, before * width));
    }
    found.set(more, before * width);
    return found;
  }

  // Velocities of a chunk that has some; NaN in the frames of a chunk without.
  addVelocities(chunk, before, count) {
    if (!chunk && !this.velocity.length) return;
    const width = 6 * this.bodies;
    const old = this.velocity.length;
    const whole = chunk ? decoded(chunk.values, Int16Array) : null;
    if (chunk) this.strikes = chunk.strikes;
    const more = new Float32Array(width * count).fill(NaN);
    if (whole) more.forEach((_, k) => (more[k] = (whole[k] / 32767) * (k % 6 < 3 ? chunk.scale : chunk.turning)));
    for (let k = 0; k < more.length; k += 3) {
      const part = (k / 3) % (2 * this.bodies);
      this.fastest[part] = Math.max(this.fastest[part], Math.hypot(more[k], more[k + 1], more[k + 2]) || 0);
    }
    this.velocity = this.grown(this.velocity, width, more, before);
    if (!old) this.velocity.fill(NaN, 0, width * before);
  }

  // How the motion from frame i to the next is shown. The velocities say whether there is an impact between.
  shownBetween(i) {
    const straight = this.isSmooth(i) ? STRAIGHT : ALONE;
    if (!this.velocity.length) return straight;
    const h = this.t[i + 1] - this.t[i];
    const [most, mostTurning] = this.strikes ? this.largest : [0, 0];
    let curved = true;
    for (let k = 0; k < this.bodies; k++) {
      const between = this.between(i, k, h);
      if (!(between.known && h > 0)) return straight;
      const { moved, turned, v, w, u, x } = between;
      if (Math.hypot(...turned) > FURTHEST || apart(turned, u, x, h) > 1) return ALONE; // or turns that nobody counted
      if (!this.strikes) continue;
      const [fast, turning] = this.fastest.subarray(2 * k, 2 * k + 2);
      const far = FLOAT * this.distance(i, k);
      if (apart(moved, v, w, h) > allowed(v, w, fast, most, h) + far) curved = false;
      if (apart(turned, u, x, h) > allowed(u, x, turning, mostTurning, h) + ROUNDED) curved = false;
    }
    return curved ? CURVED : straight;
  }

  // Of a body at frame i from the origin, m.
  distance(i, body) {
    const a = 3 * (i * this.bodies + body);
    return Math.hypot(this.position[a], this.position[a + 1], this.position[a + 2]);
  }

  // The largest speeds of all bodies so far, m/s and rad/s.
  get largest() {
    return [0, 1].map((part) => this.fastest.reduce((most, each, k) => (k % 2 === part ? Math.max(most, each) : most), 0));
  }

  // Of a body: what it moves (m) and turns (rad, axes at frame i) to the next frame, and the rates of both at both ends.
  between(i, body, h) {
    const p = this.position;
    const a = 3 * (i * this.bodies + body);
    const b = a + 3 * this.bodies;
    const c = 6 * (i * this.bodies + body);
    const d = c + 6 * this.bodies;
    const at = this.velocity;
    const turned = rotationVector(this.quat, 4 * (i * this.bodies + body), 4 * ((i + 1) * this.bodies + body));
    return {
      known: Number.isFinite(at[c]) && Number.isFinite(at[d]),
      h,
      moved: [p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]],
      turned,
      v: at.subarray(c, c + 3),
      w: at.subarray(d, d + 3),
      u: at.subarray(c + 3, c + 6),
      x: rateOf(turned, at.subarray(d + 3, d + 6)),
    };
  }

  curvesOf(chunk) {
    const { low, high, levels } = chunk.curves;
    const whole = decoded(levels, Uint16Array);
    return Float32Array.from(whole, (level, k) => {
      const c = k % this.curveCount;
      return low[c] + (level / 65535) * (high[c] - low[c]);
    });
  }

  addArrows(chunk, before, count) {
    const width = chunk.what.startsWith("reaction") ? this.joints : this.bodies;
    const whole = decoded(chunk.vectors, Int16Array);
    const dense = new Float32Array(3 * width * count);
    const n = chunk.numbers.length;
    const largest = new Float32Array(count); // of each frame
    for (let i = 0; i < count; i++) {
      chunk.numbers.forEach((number, k) => {
        const from = 3 * (i * n + k);
        const to = 3 * (i * width + number);
        for (let axis = 0; axis < 3; axis++) dense[to + axis] = (whole[from + axis] / 32767) * chunk.scale;
        largest[i] = Math.max(largest[i], Math.hypot(dense[to], dense[to + 1], dense[to + 2]));
      });
    }
    const none = { unit: chunk.unit, width, values: new Float32Array(0), largest: new Float32Array(0), typical: 0 };
    const known = this.arrows.get(chunk.what) || none;
    known.values = this.grown(known.values, 3 * width, dense, before);
    known.largest = this.grown(known.largest, 1, largest, before);
    this.arrows.set(chunk.what, this.typical(known, before + count));
  }

  // Its typical size, of the largest of each frame, or of some of many: peaks reach further.
  typical(known, count) {
    const each = Math.ceil(count / 5000);
    const sorted = (each > 1 ? known.largest.slice(0, count).filter((_, k) => k % each === 0) : known.largest.slice(0, count)).sort();
    known.typical = sorted[Math.floor(0.8 * (sorted.length - 1))] || sorted[sorted.length - 1];
    return known;
  }

  // Points and forces of contacts, any number in a frame: those of frame i are from first[i] on.
  addContacts({ counts, points, forces }, before) {
    const each = decoded(counts, Uint16Array);
    const none = { unit: "N", first: new Uint32Array(0), values: new Float32Array(0), points: new Float32Array(0) };
    const known = this.arrows.get("contact") || { ...none, largest: new Float32Array(0), total: 0 };
    const first = new Uint32Array(each.length + 1);
    const largest = new Float32Array(each.length);
    const values = decoded(forces, Float32Array);
    first[0] = known.total;
    each.forEach((count, i) => {
      first[i + 1] = first[i] + count;
      for (let k = first[i]; k < first[i + 1]; k++) largest[i] = Math.max(largest[i], Math.hypot(...values.subarray(3 * (k - known.total), 3 * (k - known.total) + 3)));
    });
    known.first = this.grown(known.first, 1, first, before);
    known.largest = this.grown(known.largest, 1, largest, before);
    known.values = this.grown(known.values, 3, values, known.total);
    known.points = this.grown(known.points, 3, decoded(points, Float32Array), known.total);
    known.total = first[each.length];
    this.arrows.set("contact", this.typical(known, before + each.length));
  }

  // The first of the contacts of the frame that is nearer, and how many there are.
  touching(known, { frame, share }) {
    const at = share > 0.5 ? frame + 1 : frame;
    return { first: known.first[at], count: known.first[at + 1] - known.first[at] };
  }

  isSmooth(i) {
    const q = this.quat;
    for (let k = 0; k < this.bodies; k++) {
      const a = 4 * (i * this.bodies + k);
      const b = a + 4 * this.bodies;
      if (Math.abs(q[a] * q[b] + q[a + 1] * q[b + 1] + q[a + 2] * q[b + 2] + q[a + 3] * q[b + 3]) < SMOOTH) return false;
    }
    return true;
  }

  get start() {
    return this.count ? this.t[0] : 0;
  }

  get end() {
    return this.count ? Math.max(this.beyond, this.t[this.count - 1]) : 0;
  }

  // The last frame at or before a time, and the share of the way to the next.
  at(time) {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.t[middle] <= time) low = middle;
      else high = middle - 1;
    }
    if (low + 1 >= this.count || !this.smooth[low]) return { frame: low, share: 0 };
    return { frame: low, share: Math.min(1, Math.max(0, (time - this.t[low]) / (this.t[low + 1] - this.t[low]))) };
  }

  // Into position and quaternion (three.js) of a body.
  pose(body, { frame, share }, position, quaternion) {
    if (share && this.smooth[frame] === CURVED) {
      this.curvedPose(body, frame, share, position, quaternion);
      return;
    }
    const p = this.position;
    const a = 3 * (frame * this.bodies + body);
    const b = share ? a + 3 * this.bodies : a;
    position.set(p[a] + share * (p[b] - p[a]), p[a + 1] + share * (p[b + 1] - p[a + 1]), p[a + 2] + share * (p[b + 2] - p[a + 2]));
    const q = this.quat;
    const c = 4 * (frame * this.bodies + body);
    const d = share ? c + 4 * this.bodies : c;
    const dot = q[c] * q[d] + q[c + 1] * q[d + 1] + q[c + 2] * q[d + 2] + q[c + 3] * q[d + 3];
    const on = dot < 0 ? -share : share;
    const mixed = [0, 1, 2, 3].map((k) => (1 - share) * q[c + k] + on * q[d + k]);
    quaternion.set(mixed[1], mixed[2], mixed[3], mixed[0]).normalize();
  }

  // The same, on cubic curves of position and rotation vector.
  curvedPose(body, frame, share, position, quaternion) {
    const { h, moved, turned, v, w, u, x } = this.between(frame, body, this.t[frame + 1] - this.t[frame]);
    const rest = 1 - share;
    const end = share * share * (3 - 2 * share);
    const [first, last] = [h * share * rest * rest, -h * share * share * rest];
    const a = 3 * (frame * this.bodies + body);
    position.set(...[0, 1, 2].map((k) => this.position[a + k] + end * moved[k] + first * v[k] + last * w[k]));
    const turn = [0, 1, 2].map((k) => end * turned[k] + first * u[k] + last * x[k]);
    const angle = Math.hypot(...turn);
    const factor = angle > STILL ? Math.sin(0.5 * angle) / angle : 0.5;
    const c = 4 * (frame * this.bodies + body);
    const by = quaternion.clone().set(factor * turn[0], factor * turn[1], factor * turn[2], Math.cos(0.5 * angle));
    quaternion.set(this.quat[c + 1], this.quat[c + 2], this.quat[c + 3], this.quat[c]).multiply(by).normalize();
  }

  curve(number, { frame, share }) {
    const a = this.curves[frame * this.curveCount + number];
    return share ? a + share * (this.curves[(frame + 1) * this.curveCount + number] - a) : a;
  }

  // Point k of all on arcs, in axes of the body of its surface.
  arcPoint(k, { frame, share }, point) {
    const a = frame * this.arcWidth + 3 * k;
    const b = share ? a + this.arcWidth : a;
    const v = this.arcs;
    return point.set(v[a] + share * (v[b] - v[a]), v[a + 1] + share * (v[b + 1] - v[a + 1]), v[a + 2] + share * (v[b + 2] - v[a + 2]));
  }

  // Writes the vertices of a surface from number ``first`` on to an array.
  skin(first, { frame, share }, into) {
    const a = frame * this.skinWidth + 3 * first;
    const b = share ? a + this.skinWidth : a;
    const v = this.skins;
    for (let k = 0; k < into.length; k++) into[k] = v[a + k] + share * (v[b + k] - v[a + k]);
  }

  // Of the line with that number among those that have one, 0 to 1.
  activation(number, { frame, share }) {
    const a = frame * this.activationWidth + number;
    const v = this.activations;
    return (share ? v[a] + share * (v[a + this.activationWidth] - v[a]) : v[a]) / 255;
  }

  arrow(known, number, { frame, share }, vector) {
    const a = 3 * (frame * known.width + number);
    const b = share ? a + 3 * known.width : a;
    const v = known.values;
    return vector.set(v[a] + share * (v[b] - v[a]), v[a + 1] + share * (v[b + 1] - v[a + 1]), v[a + 2] + share * (v[b + 2] - v[a + 2]));
  }
}
