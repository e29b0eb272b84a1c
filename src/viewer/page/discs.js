/* Near views: every point a smooth disc, drawn by the processor, or by WebGL (below).
 *
 * Method: discs are drawn beforehand at 4 x 4 places within a pixel; a point adds the one for its
 * place to an array of pixels, which is copied to the screen as a whole.
 * Advantage: no call for each point, the same picture everywhere. Disadvantage: time grows with the
 * area that the discs cover. */

const PHASES = 4;

/* What a point of a map in three dimensions has left of its opacity, of 256, by its depth. */
const FOG = Uint16Array.from({ length: 256 }, (_, depth) => 70 + 186 * depth / 255);

/* Coverage 0 .. 256 of the pixels of a disc at each place. */
function makeStamps(radius, opacity) {
    const reach = Math.ceil(radius + 1), size = 2 * reach + 1, stamps = [];
    for (let phase = 0; phase < PHASES * PHASES; phase++) {
        const cx = reach + (phase % PHASES + 0.5) / PHASES;
        const cy = reach + (Math.floor(phase / PHASES) + 0.5) / PHASES;
        const cover = [];
        for (let y = 0; y < size; y++) {
            for (let x = 0; x < size; x++) {
                const distance = Math.hypot(x + 0.5 - cx, y + 0.5 - cy);
                const part = Math.min(1, Math.max(0, radius + 0.5 - distance));
                const weight = Math.round(256 * opacity * part * Math.min(1, 2 * radius) ** 2);
                if (weight > 0) cover.push({ dx: x - reach, dy: y - reach, weight });
            }
        }
        stamps.push(cover);
    }
    return { reach, stamps };
}

class Discs {
    constructor(canvas, cloud) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.cloud = cloud;
    }

    setColours(colours, paint) {
        this.paint = paint;
        this.state = colours.state;
        this.rgb = Uint32Array.from(colours.state, (_, i) =>
            colours.blue[i] << 16 | colours.green[i] << 8 | colours.red[i]);
    }

    /* Draws the points of the ranges, those of the context below the others. */
    draw(view, ranges, radius, opacity, background) {
        const key = radius + " " + opacity + " " + this.canvas.width;
        if (this.key !== key) {
            const { reach, stamps } = makeStamps(radius, opacity);
            const line = this.canvas.width + 2 * reach;
            const offsetsOf = (cover) => Int32Array.from(cover, (c) => c.dy * line + c.dx);
            const weights = stamps.map((cover) => Int32Array.from(cover, (c) => c.weight));
            Object.assign(this, { key, reach, offsets: stamps.map(offsetsOf), weights });
        }
        /* Pixels as one array, cleared to the background, with a border for discs at the edge. */
        const width = this.canvas.width + 2 * this.reach;
        const height = this.canvas.height + 2 * this.reach;
        if (!this.image || this.image.width !== width || this.image.height !== height) {
            this.image = this.context.createImageData(width, height);
            this.pixels = new Uint32Array(this.image.data.buffer);
        }
        const [red, green, blue] = background;
        this.pixels.fill((0xff000000 | blue << 16 | green << 8 | red) >>> 0);
        for (const state of [CONTEXT, SHOWN]) {
            if (!this.state.includes(state)) continue;
            if (this.cloud.back) this.add(view, this.cloud.back, 0, this.cloud.n, state);
            else for (let r = 0; r < ranges.length; r += 2) {
                this.add(view, null, ranges[r], ranges[r + 1], state);
            }
        }
        this.context.putImageData(this.image, -this.reach, -this.reach);
    }

    /* Points first .. end - 1, or those that stand there in `order`. Far ones are fainter. */
    add(view, order, first, end, state) {
        const { pixels, paint, rgb, reach, offsets, weights } = this, { xy, depth } = this.cloud;
        const { width, height } = this.image, { scale } = view, states = this.state;
        const left = view.x - (width / 2) / scale, top = view.y + (height / 2) / scale;
        for (let k = first; k < end; k++) {
            const i = order ? order[k] : k, p = paint[i];
            if (states[p] !== state) continue;
            const x = (xy[2 * i] - left) * scale, y = (top - xy[2 * i + 1]) * scale;
            if (!(x >= reach && y >= reach && x < width - reach && y < height - reach)) continue;
            const column = x | 0, row = y | 0, near = depth ? FOG[depth[i]] : 256;
            const phase = ((y - row) * PHASES | 0) * PHASES + ((x - column) * PHASES | 0);
            const offset = offsets[phase], weight = weights[phase], at = row * width + column;
            const even = rgb[p] & 0xff00ff, odd = rgb[p] >>> 8 & 0xff;
            for (let d = 0; d < offset.length; d++) {
                const old = pixels[at + offset[d]], w = weight[d] * near >> 8, v = 256 - w;
                const both = Math.imul(even, w) + Math.imul(old & 0xff00ff, v) >>> 8 & 0xff00ff;
                const green = odd * w + (old >>> 8 & 0xff) * v & 0xff00;
                pixels[at + offset[d]] = 0xff000000 | both | green;
            }
        }
    }
}

/* --- the same with WebGL 2, drawn by the graphics processor --------------------------------------
 *
 * Method: positions stay integers of 32 bits; the shader subtracts the middle of the view from them
 * before anything becomes a floating number, so that no zoom is too deep for it. Points outside the
 * view are not sent: the quadtree gives ranges.
 * Advantage: the time of a frame hardly depends on how large discs are. Disadvantage: 10 bytes a
 * point of graphics memory (15 in three dimensions); where WebGL is emulated by the processor,
 * the other is faster, so a browser that says so gets that. */

const PALETTE_WIDTH = 256;

const VERTEX_SHADER = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in uvec2 place;
layout(location = 1) in uint paint;
layout(location = 2) in float depth;
uniform uvec2 middle;
uniform vec2 rest, scale;
uniform float radius, state;
uniform highp sampler2D palette;
out vec4 colour;
void main() {
    colour = texelFetch(palette, ivec2(int(paint & 255u), int(paint >> 8)), 0);
    /* 31 bits, so that no difference overflows. */
    vec2 away = 2.0 * vec2(ivec2(place >> 1) - ivec2(middle >> 1)) - rest;
    bool isDrawn = abs(colour.a - state) < 0.1;
    gl_Position = isDrawn ? vec4(away * scale, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
    colour.a = depth;
    gl_PointSize = 2.0 * radius + 2.0;
}`;

const FRAGMENT_SHADER = `#version 300 es
precision highp float;
uniform float radius, opacity;
in vec4 colour;
out vec4 pixel;
void main() {
    float away = length(gl_PointCoord - 0.5) * (2.0 * radius + 2.0);
    float part = clamp(radius + 0.5 - away, 0.0, 1.0) * opacity * colour.a;
    pixel = vec4(colour.rgb * part, part);
}`;

function linked(gl) {
    const program = gl.createProgram();
    const shaders = [[gl.VERTEX_SHADER, VERTEX_SHADER], [gl.FRAGMENT_SHADER, FRAGMENT_SHADER]];
    for (const [kind, text] of shaders) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, text);
        gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) {
            throw new Error(gl.getShaderInfoLog(shader));
        }
        gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (gl.getProgramParameter(program, gl.LINK_STATUS)) return program;
    throw new Error(gl.getProgramInfoLog(program));
}

/* Whether the processor plays the graphics processor. Not every browser admits it when it is asked
 * for a context "without a major performance caveat". */
function isEmulated(gl) {
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    const name = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

class WebglDiscs {
    /* Throws where there is no WebGL 2 that is worth its name. */
    constructor(canvas, cloud) {
        const isRequested = requested.has("webgl");
        const gl = canvas.getContext("webgl2", { antialias: false, depth: false,
            failIfMajorPerformanceCaveat: !isRequested });
        if (!gl || !isRequested && isEmulated(gl)) throw new Error("no WebGL 2");
        this.canvas = canvas;
        this.cloud = cloud;
        this.gl = gl;
        this.start();
        canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
        canvas.addEventListener("webglcontextrestored", () => this.start());
    }

    start() {
        const { gl } = this;
        this.program = linked(gl);
        this.at = {};
        for (const name of ["middle", "rest", "scale", "radius", "opacity", "state"]) {
            this.at[name] = gl.getUniformLocation(this.program, name);
        }
        this.places = gl.createBuffer();
        this.paints = gl.createBuffer();
        this.depths = gl.createBuffer();
        this.order = gl.createBuffer();
        this.palette = gl.createTexture();
        this.sent = this.painted = null; /* positions and paints that the buffers hold */
        this.isStale = true;
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    }

    setColours(colours, paint) {
        this.colours = colours;
        this.paint = paint;
        this.isStale = true;
    }

    /* Positions once, paints and palette when they have changed. */
    send() {
        const { gl } = this;
        if (this.sent !== this.cloud.xy) {
            gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
            gl.bufferData(gl.ARRAY_BUFFER, this.cloud.xy, gl.STATIC_DRAW);
            gl.vertexAttribIPointer(0, 2, gl.UNSIGNED_INT, 0, 0);
            gl.enableVertexAttribArray(0);
            this.sendDepth();
            this.sent = this.cloud.xy;
        }
        if (!this.isStale) return;
        const kind = this.paint.BYTES_PER_ELEMENT === 1 ? gl.UNSIGNED_BYTE : gl.UNSIGNED_SHORT;
        gl.bindBuffer(gl.ARRAY_BUFFER, this.paints);
        if (this.painted !== this.paint) gl.bufferData(gl.ARRAY_BUFFER, this.paint, gl.STATIC_DRAW);
        this.painted = this.paint;
        gl.vertexAttribIPointer(1, 1, kind, 0, 0);
        gl.enableVertexAttribArray(1);
        const { colours } = this, count = colours.state.length;
        const height = Math.ceil(count / PALETTE_WIDTH);
        const texels = new Uint8Array(4 * PALETTE_WIDTH * height);
        for (let i = 0; i < count; i++) {
            texels.set([colours.red[i], colours.green[i], colours.blue[i],
                [0, 128, 255][colours.state[i]]], 4 * i);
        }
        gl.bindTexture(gl.TEXTURE_2D, this.palette);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, PALETTE_WIDTH, height, 0, gl.RGBA,
            gl.UNSIGNED_BYTE, texels);
        this.isStale = false;
    }

    /* How faint points are by their depth, and their order from the farthest to the nearest. */
    sendDepth() {
        const { gl } = this, { depth, back } = this.cloud;
        gl.vertexAttrib1f(2, 1);
        if (!depth) return;
        gl.bindBuffer(gl.ARRAY_BUFFER, this.depths);
        gl.bufferData(gl.ARRAY_BUFFER, Uint8Array.from(depth, (d) => FOG[d] * 255 >> 8),
            gl.STATIC_DRAW);
        gl.vertexAttribPointer(2, 1, gl.UNSIGNED_BYTE, true, 0, 0);
        gl.enableVertexAttribArray(2);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.order);
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, back || new Uint32Array(0), gl.STATIC_DRAW);
    }

    clear() {
        this.gl.clearColor(0, 0, 0, 0);
        this.gl.clear(this.gl.COLOR_BUFFER_BIT);
    }

    draw(view, ranges, radius, opacity) {
        const { gl, at } = this, { width, height } = this.canvas;
        const middle = [view.x, view.y].map((unit) =>
            Math.min(SIDE - 2, Math.max(0, 2 * Math.floor(unit / 2))));
        gl.viewport(0, 0, width, height);
        this.clear();
        this.send();
        gl.useProgram(this.program);
        gl.uniform2ui(at.middle, middle[0], middle[1]);
        gl.uniform2f(at.rest, view.x - middle[0], view.y - middle[1]);
        gl.uniform2f(at.scale, 2 * view.scale / width, 2 * view.scale / height);
        gl.uniform1f(at.radius, radius);
        gl.uniform1f(at.opacity, opacity);
        for (const state of [CONTEXT, SHOWN]) {
            if (!this.colours.state.includes(state)) continue;
            gl.uniform1f(at.state, state === SHOWN ? 1 : 0.5);
            if (this.cloud.back) gl.drawElements(gl.POINTS, this.cloud.n, gl.UNSIGNED_INT, 0);
            else for (let r = 0; r < ranges.length; r += 2) {
                gl.drawArrays(gl.POINTS, ranges[r], ranges[r + 1] - ranges[r]);
            }
        }
    }
}
