'use strict';
/* As refused.c: makes the calls of a plan on stdin through node's own. */
const fs = require('fs');
const child = require('child_process');
const net = require('net');
const dgram = require('dgram');
const os = require('os');

const codes = os.constants.errno;
const O = fs.constants;
const touch = (a, flags) => fs.closeSync(fs.openSync(a, flags));
const ops = {
	open_write: (a) => touch(a, O.O_WRONLY),
	open_append: (a) => fs.appendFileSync(a, 'x'),
	open_trunc: (a) => touch(a, O.O_RDWR | O.O_TRUNC),
	open_make: (a) => fs.writeFileSync(a, 'x'),
	open_excl: (a) => touch(a, 'wx'),
	truncate: (a) => fs.truncateSync(a, 1),
	unlink: (a) => fs.unlinkSync(a),
	remove: (a) => fs.rmSync(a),
	rmdir: (a) => fs.rmdirSync(a),
	mkdir: (a) => fs.mkdirSync(a),
	symlink: (a) => fs.symlinkSync('to', a),
	link: (a, b) => fs.linkSync(a, b),
	rename: (a, b) => fs.renameSync(a, b),
	chmod: (a) => fs.chmodSync(a, 0o644),
	chown: (a) => fs.chownSync(a, process.getuid(), process.getgid()),
	lchown: (a) => fs.lchownSync(a, process.getuid(), process.getgid()),
	utimes: (a) => fs.utimesSync(a, 1, 1),
	mkstemp: (a) => fs.mkdtempSync(a),
	open_read: (a) => fs.readFileSync(a),
	stat: (a) => fs.statSync(a),
	lstat: (a) => fs.lstatSync(a),
	access: (a) => fs.accessSync(a),
	readlink: (a) => fs.readlinkSync(a),
	realpath: (a) => fs.realpathSync.native(a),
	chdir: (a) => process.chdir(a),
	opendir: (a) => fs.readdirSync(a),
	spawn: (a) => {
		const r = child.spawnSync(a);
		if (r.error)
			throw r.error;
	},
};
const later = {
	tcp: (a, b, done) => {
		const s = net.connect(Number(b), a);
		s.on('connect', () => { s.destroy(); done(null); });
		s.on('error', done);
	},
	unix_connect: (a, b, done) => {
		const s = net.connect(a);
		s.on('connect', () => { s.destroy(); done(null); });
		s.on('error', done);
	},
	unix_bind: (a, b, done) => {
		const s = net.createServer();
		s.on('error', done);
		s.listen(a, () => s.close(() => done(null)));
	},
	udp_send: (a, b, done) => {
		const s = dgram.createSocket('udp4');
		s.send('x', Number(b), a, (e) => { s.close(); done(e); });
	},
};

const lines = fs.readFileSync(0, 'utf8').split('\n').filter((l) => l);
const say = (id, rv) => fs.writeSync(1, `${id} ${process.pid} ${rv}\n`);
const code = (e) => e ? codes[e.code] || e.errno || 13 : 0;

function next() {
	const line = lines.shift();
	if (line === undefined)
		return;
	const [id, kind, a, b] = line.split(' ');
	if (later[kind]) {
		later[kind](a, b, (e) => { say(id, code(e)); next(); });
		return;
	}
	let rv = 'skip';
	if (ops[kind]) {
		try {
			ops[kind](a, b);
			rv = 0;
		} catch (e) {
			rv = code(e);
		}
	}
	say(id, rv);
	setImmediate(next);
}
next();
