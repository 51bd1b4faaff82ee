// Texts that an address carries: deflated, in the letters that an address may have. Neither side trusts the other.
"use strict";

const PACKED = 8000; // characters of an address; servers of chats and mail cut longer ones
const UNPACKED = 100_000; // characters of a text, so that a short address holds no endless one

async function through(stream, bytes, most) {
  const parts = [];
  let size = 0;
  for (const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    size += value.length;
    if (size > most) throw new RangeError("it is too long");
    parts.push(value);
  }
}

// Returns what stands for a text in an address, or nothing where it would be too long.
async function packed(text) {
  if (text.length > UNPACKED) return "";
  const bytes = await through(new CompressionStream("deflate-raw"), text, Infinity);
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const found = letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return found.length > PACKED ? "" : found;
}

async function unpacked(code) {
  if (code.length > PACKED) throw new RangeError("it is too long");
  const letters = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes, UNPACKED));
}
