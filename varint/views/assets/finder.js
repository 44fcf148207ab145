"use strict";

// Sliders of joint coordinates of a recorded run: each goes to the instant, next to the present one, at which the run has that value.

class Finder {
  // viewer: seek(time), play(on), still.
  constructor(place, curves, motion, viewer) {
    Object.assign(this, { motion, viewer, rows: [], dragged: null });
    const numbers = [...curves.keys()].filter((k) => curves[k].group === "coordinates");
    if (!numbers.length) return;
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "Joint coordinates";
    const sliders = document.createElement("div");
    sliders.className = "sliders";
    details.append(summary, sliders);
    place.before(details);
    for (const number of numbers) sliders.append(this.row(curves[number], number));
  }

  row({ name, unit }, number) {
    const row = document.createElement("label");
    const title = document.createElement("span");
    const range = document.createElement("input");
    const box = document.createElement("input");
    const small = document.createElement("small");
    title.textContent = title.title = name;
    small.textContent = unit;
    Object.assign(range, { type: "range", min: 0, max: 0, step: "any" });
    Object.assign(box, { type: "number", step: "any", inputMode: "decimal" });
    row.dataset.coordinate = name;
    for (const input of [range, box]) {
      input.setAttribute("aria-label", name);
      input.addEventListener("keydown", (event) => event.stopPropagation());
    }
    row.append(title, range, box, small);
    range.addEventListener("pointerdown", () => (this.dragged = range));
    range.addEventListener("change", () => (this.dragged = null));
    range.addEventListener("input", () => this.find(number, Number(range.value)));
    box.addEventListener("change", () => {
      const value = Number(box.value);
      if (Number.isFinite(value)) this.find(number, Math.min(Number(range.max), Math.max(Number(range.min), value)));
      box.blur();
    });
    this.rows.push({ number, range, box });
    return row;
  }

  // Goes to the instant nearest to the present one at which a curve has the value.
  find(number, value) {
    const { motion, viewer } = this;
    const last = motion.count - 1;
    let best = null;
    let nearest = [Infinity, 0]; // where no two frames have the value between them: the frame that comes closest
    for (let i = 0; i <= last; i++) {
      const a = motion.curve(number, { frame: i, share: 0 });
      const b = motion.curve(number, { frame: Math.min(i + 1, last), share: 0 });
      if (Math.abs(a - value) < nearest[0]) nearest = [Math.abs(a - value), motion.t[i]];
      if (i === last || (a - value) * (b - value) > 0) continue;
      const share = a === b ? 0 : (value - a) / (b - a);
      const time = motion.t[i] + (motion.smooth[i] ? share : Math.round(share)) * (motion.t[i + 1] - motion.t[i]);
      if (best === null || Math.abs(time - viewer.still.time) < Math.abs(best - viewer.still.time)) best = time;
    }
    viewer.play(false);
    viewer.seek(best === null ? nearest[1] : best);
  }

  // Ranges of the frames so far.
  measure() {
    for (const { number, range } of this.rows) {
      let [low, high] = [Infinity, -Infinity];
      for (let frame = 0; frame < this.motion.count; frame++) {
        const value = this.motion.curve(number, { frame, share: 0 });
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      Object.assign(range, { min: low, max: high, disabled: !(high > low) });
    }
  }

  // Sliders to the present values, but for the one that is moved.
  show(place) {
    for (const { number, range, box } of this.rows) {
      const value = this.motion.curve(number, place);
      if (this.dragged !== range) range.value = value;
      if (document.activeElement !== box) box.value = Number(value.toPrecision(4));
    }
  }
}
