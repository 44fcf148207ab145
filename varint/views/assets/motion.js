"use strict";

// The motion of a run: frames as they come, and what is between them.

const ARC_POINTS = 13; // of each piece of a line around a surface
const SMOOTH = Math.cos(0.5); // of half the angle: bodies that turn further from frame to frame are not shown between

function decoded(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return new Kind(bytes.buffer);
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
    this.smooth = new Uint8Array(0); // whether frame and next can be shown between
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
    this.curves = this.grown(this.curves, this.curveCount, this.curvesOf(chunk), before);
    this.arcs = this.grown(this.arcs, this.arcWidth, decoded(chunk.arcs, Float32Array), before);
    this.skins = this.grown(this.skins, this.skinWidth, decoded(chunk.skins, Float32Array), before);
    this.activations = this.grown(this.activations, this.activationWidth, decoded(chunk.activations, Uint8Array), before);
    for (const each of chunk.arrows) this.addArrows(each, before, chunk.count);
    this.addContacts(chunk.contacts, before);
    this.smooth = this.grown(this.smooth, 1, new Uint8Array(chunk.count), before);
    for (let i = Math.max(0, before - 1); i + 1 < this.count; i++) this.smooth[i] = this.isSmooth(i) ? 1 : 0;
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
