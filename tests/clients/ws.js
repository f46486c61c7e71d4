// ws.js HOST: a word to a WebSocket and back, for bun and deno.
const host = globalThis.Deno ? Deno.args[0] : process.argv[2];
const exit = (n) => globalThis.Deno ? Deno.exit(n) : process.exit(n);
const ws = new WebSocket(`ws://${host}/ws`);
ws.onopen = () => ws.send(`hello ${host}`);
ws.onmessage = (m) => {
	console.log(m.data);
	exit(0);
};
ws.onerror = (e) => {
	console.error(e.message ?? e);
	exit(1);
};
ws.onclose = () => exit(1);
