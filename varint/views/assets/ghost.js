"use strict";

// Another run beside the one that is shown: its bodies and lines, translucent and in one colour.

const GHOST = 0.4; // opacity
const GHOST_COLOURS = ["#7b2fbf", "#5d4037", "#00695c", "#880e4f"];

class Ghost {
  constructor(scene, { name, bodies, joints, curves, strands, skins, frames }, colour) {
    Object.assign(this, { name, colour, curves, names: bodies.map((body) => body.name) });
    this.motion = new Motion(bodies.length, joints.length, curves.length, strands, skins);
    this.motion.add(frames);
    this.solids = new THREE.Group();
    this.lines = new THREE.Group();
    scene.add(this.solids, this.lines);
    const look = { color: colour, transparent: true, opacity: GHOST, depthWrite: false };
    const material = new THREE.MeshLambertMaterial(look);
    const surface = new THREE.MeshLambertMaterial({ ...look, side: THREE.DoubleSide, flatShading: true });
    this.groups = bodies.map((body) => {
      const group = new THREE.Group();
      for (const part of body.parts) {
        const geometry = geometryOf(part);
        if (!geometry.attributes.normal) geometry.computeVertexNormals();
        const mesh = new THREE.Mesh(geometry, part.kind === "mesh" ? surface : material);
        mesh.position.copy(vector(part.position));
        mesh.quaternion.copy(spin(part.quat));
        group.add(mesh);
      }
      this.solids.add(group);
      return group;
    });
    let arcs = 0;
    this.strands = strands.map(({ bodies: ends, points, wraps }) => {
      const line = thickLine(new Array(3 * points.length).fill(0), colour, 2);
      Object.assign(line.material, { transparent: true, opacity: GHOST });
      this.lines.add(line);
      return { line, bodies: ends, points: points.map(vector), wraps: wraps.map((body) => (body < -1 ? null : { body, first: ARC_POINTS * arcs++ })) };
    });
    let first = 0;
    const wire = new THREE.LineBasicMaterial({ color: colour, transparent: true, opacity: GHOST });
    this.skins = skins.map((skin) => {
      const { count } = skin;
      const mesh = skinOf(skin, surface, wire);
      this.solids.add(mesh);
      first += count;
      return { mesh, first: first - count };
    });
  }

  // To a time; beyond its end it stays there.
  place(time) {
    const { motion, groups } = this;
    const place = motion.at(time);
    groups.forEach((group, body) => motion.pose(body, place, group.position, group.quaternion));
    for (const strand of this.strands) strand.line.geometry.setPositions(alongStrand(strand, place, motion, groups));
    for (const { mesh, first } of this.skins) {
      motion.skin(first, place, mesh.geometry.attributes.position.array);
      mesh.geometry.attributes.position.needsUpdate = true;
    }
  }
}
