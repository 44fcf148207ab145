"use strict";

// Small plots over time with a cursor at the present; one for each unit.

const PLOT = { left: 46, right: 6, top: 6, bottom: 16 };

function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e4 || size < 1e-3 ? value.toExponential(1).replace("e+", "e") : String(Number(value.toPrecision(3)));
}

class Plots {
  constructor(place, motion, curves, colours, seek) {
    Object.assign(this, { place, motion, curves, colours, seek });
    this.figures = [];
    this.others = []; // {motion, numbers: number of each curve, or -1} of other runs
    this.place.addEventListener("pointerdown", (event) => this.pointed(event));
    this.place.addEventListener("pointermove", (event) => event.buttons && this.pointed(event));
  }

  // Draw these curves, by number.
  choose(chosen) {
    this.place.replaceChildren();
    const groups = new Map();
    for (const number of chosen) {
      const { unit, group } = this.curves[number];
      const key = `${group} ${unit}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(number);
    }
    this.figures = [...groups.values()].map((numbers) => this.figure(numbers));
    this.redraw();
  }

  figure(numbers) {
    const { unit, group } = this.curves[numbers[0]];
    const figure = document.createElement("figure");
    const title = document.createElement("figcaption");
    const words = { energy: "Energy", coordinates: "Coordinates", rates: "Rates", force: "Efforts of forces" };
    title.textContent = (words[group] || group) + (unit ? ` (${unit})` : "");
    const canvas = document.createElement("canvas");
    const list = document.createElement("ul");
    const values = numbers.map((number, k) => {
      const item = document.createElement("li");
      const key = document.createElement("i");
      const name = document.createElement("span");
      const value = document.createElement("b");
      key.style.background = this.colours[k % this.colours.length];
      name.textContent = name.title = this.curves[number].name;
      item.append(key, name, value);
      list.append(item);
      return value;
    });
    figure.append(title, canvas, list);
    this.place.append(figure);
    return { numbers, canvas, values, still: document.createElement("canvas") };
  }

  // All of it, after a change of size or of the frames.
  redraw() {
    for (const figure of this.figures) this.still(figure);
  }

  range(figure) {
    let low = Infinity;
    let high = -Infinity;
    for (const { motion, numbers } of [{ motion: this.motion, numbers: null }, ...this.others]) {
      const { curves, curveCount, count } = motion;
      for (const each of figure.numbers) {
        const number = numbers ? numbers[each] : each;
        if (number < 0) continue;
        for (let i = 0; i < count; i++) {
          const value = curves[i * curveCount + number];
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
    if (!(high - low > 1e-11 * Math.max(1, Math.abs(low)))) { // a constant, but for round-off
      const around = Math.abs(low) > 1e-9 ? Math.abs(low) : 1;
      return Number.isFinite(low) ? [low - 0.5 * around, low + 0.5 * around] : [0, 1];
    }
    return [low - 0.04 * (high - low), high + 0.04 * (high - low)];
  }

  still(figure) {
    const scale = window.devicePixelRatio || 1;
    const width = figure.canvas.clientWidth;
    const height = figure.canvas.clientHeight;
    if (!width || !height) return;
    for (const canvas of [figure.canvas, figure.still]) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const draw = figure.still.getContext("2d");
    draw.scale(scale, scale);
    const [low, high] = this.range(figure);
    figure.span = high - low;
    const inner = { width: width - PLOT.left - PLOT.right, height: height - PLOT.top - PLOT.bottom };
    const span = this.motion.end - this.motion.start || 1;
    figure.x = (time) => PLOT.left + (inner.width * (time - this.motion.start)) / span;
    figure.y = (value) => PLOT.top + inner.height * (1 - (value - low) / (high - low));
    figure.time = (x) => this.motion.start + (span * (x - PLOT.left)) / inner.width;
    this.axes(draw, figure, low, high, inner);
    figure.numbers.forEach((number, k) => {
      draw.strokeStyle = this.colours[k % this.colours.length];
      draw.lineWidth = 1.3;
      this.line(draw, figure, this.motion, number, inner.width);
      draw.setLineDash([4, 3]);
      for (const { motion, numbers } of this.others) if (numbers[number] >= 0) this.line(draw, figure, motion, numbers[number], inner.width);
      draw.setLineDash([]);
    });
  }

  axes(draw, figure, low, high, inner) {
    draw.font = "10.5px system-ui, sans-serif";
    draw.fillStyle = "#6b6b6b";
    draw.strokeStyle = "#e4e4e4";
    draw.lineWidth = 1;
    draw.textAlign = "right";
    for (const value of this.ticks(low, high)) {
      const y = figure.y(value);
      draw.beginPath();
      draw.moveTo(PLOT.left, y);
      draw.lineTo(PLOT.left + inner.width, y);
      draw.stroke();
      draw.fillText(short(value), PLOT.left - 5, y + 3.5);
    }
    const bottom = PLOT.top + inner.height + 12;
    draw.textAlign = "left";
    draw.fillText(`${short(this.motion.start)}`, PLOT.left, bottom);
    draw.textAlign = "right";
    draw.fillText(`${short(this.motion.end)} s`, PLOT.left + inner.width, bottom);
  }

  ticks(low, high) {
    const rough = (high - low) / 3.2;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
    return found;
  }

  // One curve; where there are many frames a pixel, the band from its smallest to its largest there.
  line(draw, figure, motion, number, width) {
    const { t, curves, curveCount, count } = motion;
    const each = Math.max(1, Math.floor(count / (2 * width)));
    draw.beginPath();
    for (let i = 0; i < count; i += each) {
      let low = Infinity;
      let high = -Infinity;
      for (let k = i; k < Math.min(count, i + each); k++) {
        const value = curves[k * curveCount + number];
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      draw.lineTo(figure.x(t[i]), figure.y(low));
      if (high > low) draw.lineTo(figure.x(t[i]), figure.y(high));
    }
    draw.stroke();
  }

  // The cursor, and the values there.
  at(time, place) {
    for (const figure of this.figures) {
      if (!figure.x) continue;
      const draw = figure.canvas.getContext("2d");
      const scale = window.devicePixelRatio || 1;
      draw.setTransform(1, 0, 0, 1, 0, 0);
      draw.clearRect(0, 0, figure.canvas.width, figure.canvas.height);
      draw.drawImage(figure.still, 0, 0);
      draw.scale(scale, scale);
      draw.strokeStyle = "#222";
      draw.lineWidth = 1;
      draw.beginPath();
      draw.moveTo(figure.x(time), PLOT.top);
      draw.lineTo(figure.x(time), figure.canvas.clientHeight - PLOT.bottom);
      draw.stroke();
      figure.numbers.forEach((number, k) => {
        const value = this.motion.curve(number, place);
        figure.values[k].textContent = Math.abs(value) < 1e-7 * figure.span ? "0" : String(Number(value.toPrecision(4)));
      });
    }
  }

  pointed(event) {
    const figure = this.figures.find((each) => each.canvas === event.target);
    if (figure && figure.time) this.seek(figure.time(event.offsetX));
  }
}
