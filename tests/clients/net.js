// net.js HOST PORT: a line to an echo server and back, by node's net module.
const [host, port] = process.argv.slice(2);
const socket = require('net').connect(port, host, () =>
	socket.end(`hello ${host}\n`));
socket.on('data', (data) => process.stdout.write(data));
socket.on('error', (e) => {
	console.error(e.message);
	process.exitCode = 1;
});
