"use strict";

// The ground: a grid at the floor, or below the lowest point of the motion, and the sun that casts shadows on it.

class Ground {
  // rise: against gravity, towards and right: as the picture is seen first; level: height of the floor, m, or null; a floor is drawn
  // with the bodies of the world, and takes shadows itself.
  constructor(scene, { rise, towards, right, level }) {
    Object.assign(this, { scene, rise, level });
    this.grid = null;
    this.cell = 0;
    this.from = rise.clone().addScaledVector(towards, 0.7).addScaledVector(right, -0.45).normalize();
    this.sun = new THREE.DirectionalLight(0xffffff, 1.5);
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    const look = new THREE.ShadowMaterial({ opacity: 0.22, depthWrite: false });
    this.shade = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), look);
    this.shade.receiveShadow = true;
    this.shade.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), rise);
    this.shade.renderOrder = -2;
    scene.add(this.sun, this.sun.target, this.shade);
  }

  // Below the box from least to most, lower by a gap where there is no floor.
  lay(least, most, gap) {
    const extent = most.clone().sub(least);
    const wide = 1.3 * Math.max(extent.x, extent.y, extent.z);
    const power = 10 ** Math.floor(Math.log10(wide / 6));
    this.cell = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= wide / 12);
    const cells = 2 * Math.ceil(wide / this.cell / 2);
    const visible = this.grid ? this.grid.visible : true;
    if (this.grid) this.drop();
    this.grid = new THREE.GridHelper(cells * this.cell, cells, 0xb9b9b2, 0xe2e2dc);
    this.grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.rise);
    const middle = least.clone().add(most).multiplyScalar(0.5);
    for (const axis of ["x", "y", "z"]) middle[axis] = Math.round(middle[axis] / this.cell) * this.cell;
    const lowest = Math.min(...[least, most].map((corner) => corner.dot(this.rise)));
    const height = this.level === null ? lowest - gap : this.level;
    this.grid.position.copy(middle).addScaledVector(this.rise, height - middle.dot(this.rise));
    this.grid.visible = visible;
    Object.assign(this.grid.material, { transparent: true, depthWrite: false }); // behind all else, before a floor
    this.grid.renderOrder = -1;
    this.shade.position.copy(this.grid.position);
    this.shade.scale.setScalar(8 * wide);
    this.shade.visible = this.sun.castShadow && this.level === null;
    this.scene.add(this.grid);
  }

  drop() {
    this.scene.remove(this.grid);
    this.grid.geometry.dispose();
    this.grid.material.dispose();
  }

  // Let the sun shine on a ball.
  shine(middle, radius) {
    const { sun, from } = this;
    sun.target.position.copy(middle);
    sun.position.copy(middle).addScaledVector(from, 4 * radius);
    const { camera } = sun.shadow;
    Object.assign(camera, { left: -radius, right: radius, top: radius, bottom: -radius, near: radius, far: 9 * radius });
    camera.updateProjectionMatrix();
    sun.shadow.normalBias = 0.004 * radius;
  }

  // Move the sun along with what it shines on.
  follow(shift) {
    this.sun.target.position.add(shift);
    this.sun.position.add(shift);
  }

  cast(on) {
    this.sun.castShadow = on;
    this.shade.visible = on && this.level === null;
  }
}
