/*
 * The page of a trace.  Records are in the document, in blocks, each as its
 * difference from the one before; a block is read at a time, so the page
 * answers meanwhile.  Names come from hostile programs: they reach the document
 * as text alone, through put(), which shows what would be invisible.
 */
'use strict';
(() => {
const $ = (id) => document.getElementById(id);
const KINDS = ['write', 'read', 'exec', 'connect', 'http', 'dns', 'syscall', 'call', 'notice', 'run'];
const WORDS = { exec: 'execution', connect: 'connection', http: 'request', dns: 'name', syscall: 'system call' };
const OUTCOMES = { refused: 'refused', observed: 'would be refused', failed: 'failed', allowed: 'allowed', call: 'calls told', notice: 'notices' };
const ROW = 22, SLICE = 20000;
const F_OUT = 1, F_KIND = 2, F_RULE = 4, F_PROC = 8, F_OBJ = 16, F_TEXT = 32, F_TIME = 64;

/* ---- text ---- */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/gu;
const escapeOf = (c) => {
	const n = c.codePointAt(0), hex = n.toString(16);
	return n < 0x100 ? '\\x' + hex.padStart(2, '0') :
	    n < 0x10000 ? '\\u' + hex.padStart(4, '0') : '\\u{' + hex + '}';
};
const plain = (s) => s.replace(HIDDEN, escapeOf);
const cut = (s, most) => {
	if (s.length <= most)
		return [s];
	const head = Math.ceil((most - 1) * .45), tail = most - 1 - head;
	return [s.slice(0, head).replace(/[\ud800-\udbff]$/, ''),
	    s.slice(s.length - tail).replace(/^[\udc00-\udfff]/, '')];
};
const putPart = (node, s) => {
	let at = 0;
	for (const m of s.matchAll(HIDDEN)) {
		if (m.index > at)
			node.append(s.slice(at, m.index));
		const e = document.createElement('span');
		e.className = 'esc';
		e.textContent = escapeOf(m[0]);
		node.append(e);
		at = m.index + m[0].length;
	}
	if (at < s.length)
		node.append(s.slice(at));
};
/* Text from a record into an element, its middle cut out if it is too long. */
const put = (node, s, most = Infinity) => {
	const parts = cut(s, Math.max(most, 8));
	putPart(node, parts[0]);
	if (parts.length > 1) {
		node.append(el('span', 'soft', '…'));
		putPart(node, parts[1]);
	}
	return node;
};
function el(tag, cls, ...kids) {
	const e = document.createElement(tag);
	if (cls)
		e.className = cls;
	e.append(...kids);
	return e;
}
const button = (label, fn, cls, name) => {
	const b = el('button', cls, label);
	b.type = 'button';
	if (name)
		b.setAttribute('aria-label', name);
	b.onclick = fn;
	return b;
};
const num = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
const times = (n, one, many) => num(n) + ' ' + (n === 1 ? one : many || one + 's');
const pad = (n, w) => String(n).padStart(w, '0');
const say = (text) => { $('said').textContent = text; };

/* ---- records ---- */
const NONE = Object.freeze(Object.create(null));
const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
const obj = (v) => isObject(v) ? v : NONE;
const str = (v) => typeof v === 'string' ? v : typeof v === 'number' ? String(v) : '';
const int = (v) => Number.isFinite(v) ? v : 0;
const changed = (was, to) => {
	const r = Object.assign(Object.create(null), was);
	for (const k of Object.keys(to)) {
		if (to[k] === null)
			delete r[k];
		else
			r[k] = isObject(to[k]) ? changed(obj(r[k]), to[k]) : to[k];
	}
	return r;
};

const events = [];
const runs = new Map();		/* by metadata.correlation_uid */
const ends = { lines: 0, malformed: 0, firstMalformed: 0, leftOut: 0, isCut: false };
const trouble = new Map();	/* findings by title */
let dropped = 0, isDone = false, tMin = Infinity, tMax = -Infinity;

const O_CREAT = 0o100, O_TRUNC = 0o1000, O_ACCMODE = 3;
const FILE_ACTS = { 1: 'create', 2: 'look at', 3: 'change', 4: 'delete', 5: 'rename', 6: 'set attributes' };
const fileKind = (r) => {
	const mask = int(r.access_mask);
	return r.activity_id === 2 || (r.activity_id === 14 &&
	    (mask & (O_ACCMODE | O_CREAT | O_TRUNC)) === 0) ? 'read' : 'write';
};
const endpoint = (r) => {
	const d = obj(r.dst_endpoint), host = str(d.domain) || str(d.ip);
	if (str(d.name))
		return str(d.name);
	return (host.includes(':') ? '[' + host + ']' : host) + (int(d.port) ? ':' + d.port : '');
};
const unprefixed = (r) => str(r.message).replace(/^\[fence[^\]]*\] +(\d\d:\d\d:\d\d )?/, '');

/* What a record is about: its kind, the object to filter by, what to show. */
const about = (r) => {
	const call = str(obj(obj(r.unmapped).fence).call);
	switch (r.class_uid) {
	case 1001: {
		const path = str(obj(r.file).path), kind = fileKind(r);
		return [kind, path, path, call || FILE_ACTS[r.activity_id] || 'open to ' + kind];
	}
	case 1005: {		/* a function that trace.calls names */
		const p = obj(obj(obj(r.unmapped).fence).probe), name = str(p.function), args = Array.isArray(p.args) ? p.args : [];
		return ['call', name, name + '(' + args.map(str).join(', ') + ')' + (str(p.result) ? ' = ' + str(p.result) : '') +
		    (str(p.errno) ? ' ' + str(p.errno) : ''), 'call of a function'];
	}
	case 1007: {
		const p = obj(r.process);
		return ['exec', str(p.path) || str(p.cmd_line), str(p.cmd_line) || str(p.path), call || 'execute'];
	}
	case 1003: {
		const k = obj(r.kernel), name = str(k.system_call) || str(k.name);
		return ['syscall', name, name, 'system call'];
	}
	case 4001: {
		const where = endpoint(r), how = str(obj(r.connection_info).protocol_name);
		return ['connect', where, where + (how && how !== 'tcp' ? ' (' + how + ')' : ''),
		    call || (r.activity_id === 7 ? 'listen' : 'connect')];
	}
	case 4002: {
		const q = obj(r.http_request), url = obj(q.url);
		return ['http', endpoint(r) || str(url.hostname), str(q.http_method) + ' ' + str(url.url_string), 'HTTP request'];
	}
	case 4003: {
		const q = obj(r.query);
		return ['dns', str(q.hostname), str(q.hostname) + (str(q.type) ? ' ' + str(q.type) : ''), 'name query'];
	}
	case 2004: {
		const f = obj(r.finding_info);
		return ['notice', '', str(f.title) + (str(f.desc) ? ': ' + str(f.desc) : ''), 'notice'];
	}
	}
	return ['run', '', unprefixed(r), 'run'];
};
const outcomeOf = (r, kind) => /^(call|notice|run)$/.test(kind) ? kind :
    r.action_id === 2 ? 'refused' : r.action_id === 3 ? 'observed' :
    r.status_id === 2 ? 'failed' : 'allowed';

/* ---- processes ---- */
const tree = { kids: [], parent: null, depth: -1, open: true, own: 0, sum: 0, all: 0 };
const byPid = new Map();	/* run/pid: its node */
let lastActor = null, lastNode = null, lastRun = null;

const nodeOf = (run, p, parent) => {
	const pid = int(p.pid), key = run.id + '/' + (pid || '?' + str(p.name));
	let n = byPid.get(key);
	if (!n || (parent !== tree && n.parent !== parent && n.parent !== tree)) {
		n = { pid, names: [], cmd: '', parent: null, kids: [], depth: 0, open: true, own: 0, sum: 0, all: 0 };
		byPid.set(key, n);
	}
	if (n.parent === null || (n.parent === tree && parent !== tree && !isAbove(n, parent))) {
		if (n.parent)
			n.parent.kids.splice(n.parent.kids.indexOf(n), 1);
		n.parent = parent;
		parent.kids.push(n);
	}
	const name = str(p.name) || (pid ? '' : 'unknown process');
	if (name && n.names[n.names.length - 1] !== name && n.names.length < 6)
		n.names.push(name);
	if (str(p.cmd_line))
		n.cmd = str(p.cmd_line);
	return n;
};
const isAbove = (n, below) => {
	for (; below; below = below.parent)
		if (below === n)
			return true;
	return false;
};
/* One object stands for the same process in records that follow each other. */
const processOf = (run, r) => {
	const p = obj(r.actor).process;
	if (!isObject(p))
		return null;
	if (p === lastActor && run === lastRun)
		return lastNode;
	let at = tree;
	const chain = Array.isArray(p.ancestry) ? p.ancestry.slice(0, 64) : [];
	for (let i = chain.length - 1; i >= 0; i--)
		at = nodeOf(run, obj(chain[i]), at);
	lastActor = p;
	lastRun = run;
	return lastNode = nodeOf(run, p, at);
};
const label = (n) => n.names.join(' → ') || 'process';
const who = (n) => n ? label(n) + (n.pid ? '[' + n.pid + ']' : '') : '';

const runOf = (r) => {
	const id = str(obj(r.metadata).correlation_uid);
	let run = runs.get(id);
	if (!run)
		runs.set(id, run = { id, first: r, start: null, end: null, last: 0, missing: 0 });
	const seq = int(obj(r.metadata).sequence);
	if (seq > run.last) {
		run.missing += seq - run.last - 1;
		run.last = seq;
	}
	if (r.class_uid === 6002 && r.activity_id === 3)
		run.start = r;
	if (r.class_uid === 6002 && r.activity_id === 4)
		run.end = r;
	return run;
};

const add = (r) => {
	const run = runOf(r), [kind, object, what, call] = about(r), fence = obj(obj(r.unmapped).fence);
	const rule = obj(r.firewall_rule), out = outcomeOf(r, kind), t = int(r.time);
	const node = processOf(run, r), uid = str(rule.uid);
	const ev = { r, t, kind, out, object, what, call, node, n: Math.max(1, int(r.count)),
		rule: uid ? uid + '\n' + str(rule.name) + '\n' + str(obj(r.policy).name) : '',
		err: str(r.status_code) || str(obj(r.http_response).code) || (r.rcode_id === 3 ? 'NXDOMAIN' : ''), hay: '' };
	ev.hay = (what + '\n' + object + '\n' + call + '\n' + ev.err).toLowerCase();
	if (kind === 'notice') {
		const title = str(obj(r.finding_info).title), f = trouble.get(title);
		dropped += int(fence.dropped);
		if (f)
			f.n++;
		else
			trouble.set(title, { n: 1, desc: str(obj(r.finding_info).desc) });
	}
	if (t < tMin)
		tMin = t;
	if (t > tMax)
		tMax = t;
	if (node && out === 'refused')
		node.all += ev.n;
	events.push(ev);
};

/* ---- filters: which of them a record fails, so that each can count what
 * the others leave ---- */
const want = { out: null, kinds: new Set(), rule: null, node: null, object: null, words: [], t0: -Infinity, t1: Infinity };
let fails = new Uint8Array(4096);
let shown = [], passed = 0, pass = 0, isWhole = true;
let count;
const fresh = () => ({ out: new Map(), kind: new Map(), rules: new Map(), objects: new Map(), block: new Map(), noLine: 0 });

const hasWord = (ev, w) => {
	const inRule = () => ev.rule.toLowerCase().includes(w.text);
	const inProc = () => ev.node !== null && (who(ev.node) + '\n' + ev.node.cmd).toLowerCase().includes(w.text);
	switch (w.where) {
	case 'proc': return inProc();
	case 'rule': return inRule();
	case 'obj': return ev.object.toLowerCase().includes(w.text);
	}
	return ev.hay.includes(w.text) || inRule() || inProc();
};
const test = (ev) => {
	let f = 0;
	if (want.out !== null && ev.out !== want.out)
		f |= F_OUT;
	if (want.kinds.size > 0 && !want.kinds.has(ev.kind))
		f |= F_KIND;
	if (want.rule !== null && ev.rule !== want.rule)
		f |= F_RULE;
	if (want.node !== null && !(ev.node && isAbove(want.node, ev.node)))
		f |= F_PROC;
	if (want.object !== null && ev.object !== want.object)
		f |= F_OBJ;
	if (ev.t < want.t0 || ev.t > want.t1)
		f |= F_TIME;
	for (const w of want.words)
		if (hasWord(ev, w) === w.not) {
			f |= F_TEXT;
			break;
		}
	return f;
};
const more = (map, key, n) => map.set(key, (map.get(key) || 0) + n);
const remedyOf = (r) => {
	const fence = obj(obj(r.unmapped).fence), m = obj(fence.remedy);
	return str(m.key) ? { key: str(m.key), value: str(m.value), flag: str(m.flag), isClaim: fence.trust === 'claim' } : null;
};
/* By key the values, and of each: do only processes inside say so? */
const addRemedy = (map, m) => {
	let values = map.get(m.key);
	if (!values)
		map.set(m.key, values = new Map());
	values.set(m.value, m.isClaim && values.get(m.value) !== false);
	return map;
};
const consider = (i) => {
	const ev = events[i], f = test(ev), isNo = ev.out === 'refused' || ev.out === 'observed';
	fails[i] = f;
	if ((f & ~F_OUT) === 0)
		more(count.out, ev.out, ev.n);
	if ((f & ~F_KIND) === 0)
		more(count.kind, ev.kind, ev.n);
	if ((f & ~F_PROC) === 0 && ev.node)
		ev.node.own += ev.n;
	if ((f & ~F_OBJ) === 0 && ev.object)
		more(count.objects, ev.object, ev.n);
	if ((f & ~F_RULE) === 0 && isNo && ev.rule) {
		let g = count.rules.get(ev.rule);
		if (!g)
			count.rules.set(ev.rule, g = { n: 0, objects: new Map(), lines: new Map(), flag: '', value: '' });
		const m = remedyOf(ev.r);
		g.n += ev.n;
		more(g.objects, ev.object, ev.n);
		if (m)
			addRemedy(g.lines, m);
	}
	if (f === 0) {
		shown.push(i);
		if (isNo) {
			const m = remedyOf(ev.r);
			if (m)
				addRemedy(count.block, m);
			else
				count.noLine += ev.n;
		}
	}
};
const clearNodes = (n) => {
	const todo = [n];
	while (todo.length > 0) {
		const at = todo.pop();
		at.own = at.sum = 0;
		for (const k of at.kids)
			todo.push(k);
	}
};
/* Counts what was added since; after a change of a filter, all of it again. */
const sift = (mine) => {
	const to = Math.min(events.length, passed + SLICE);
	if (fails.length < to) {
		const old = fails;
		fails = new Uint8Array(Math.max(to, old.length * 2));
		fails.set(old);
	}
	for (; passed < to; passed++)
		consider(passed);
	if (passed < events.length && mine === pass) {
		setTimeout(() => { if (mine === pass) sift(mine); }, 0);
		return;
	}
	draw();
};
const restart = () => {
	pass++;
	passed = 0;
	shown = [];
	count = fresh();
	clearNodes(tree);
	sift(pass);
};
const filter = (changes) => {
	const at = shown[list.at];
	Object.assign(want, changes);
	keep = at === undefined ? -1 : at;
	restart();
};
let keep = -1;		/* the event to stay on */

/* ---- lists of which only the visible rows are elements ---- */
class List {
	constructor(id, size, fill, onOpen) {
		this.box = $(id);
		this.size = size;
		this.fill = fill;
		this.onOpen = onOpen;
		this.at = -1;
		this.pad = this.box.appendChild(el('div', 'pad'));
		this.rows = this.box.appendChild(el('div', 'rows'));
		this.rows.setAttribute('role', 'presentation');
		this.box.addEventListener('scroll', () => this.later());
		new ResizeObserver(() => this.later()).observe(this.box);
		this.rows.addEventListener('click', (e) => {
			const row = e.target.closest('.row');
			if (row)
				this.open(Number(row.dataset.i), e);
		});
	}
	later() {
		if (!this.waits) {
			this.waits = true;
			requestAnimationFrame(() => { this.waits = false; this.draw(); });
		}
	}
	draw() {
		const n = this.size(), h = this.box.clientHeight;
		const first = Math.max(0, Math.min(Math.floor(this.box.scrollTop / ROW) - 4, n - 1));
		const last = Math.min(n, first + Math.ceil(h / ROW) + 9), made = [];
		if (this.at >= n)
			this.at = n - 1;
		this.pad.style.height = n * ROW + 'px';
		for (let i = first; i < last; i++) {
			const row = el('div', 'row');
			row.id = this.box.id + '-' + i;
			row.dataset.i = i;
			row.setAttribute('role', this.box.getAttribute('role') === 'tree' ? 'treeitem' : 'option');
			row.setAttribute('aria-posinset', i + 1);
			row.setAttribute('aria-setsize', n);
			row.setAttribute('aria-selected', i === this.at);
			row.classList.toggle('cur', i === this.at);
			this.fill(row, i);
			made.push(row);
		}
		this.rows.style.transform = 'translateY(' + first * ROW + 'px)';
		this.rows.replaceChildren(...made);
		if (this.at >= first && this.at < last)
			this.box.setAttribute('aria-activedescendant', this.box.id + '-' + this.at);
		else
			this.box.removeAttribute('aria-activedescendant');
	}
	go(i) {
		const n = this.size(), h = this.box.clientHeight;
		if (n === 0)
			return;
		this.at = Math.max(0, Math.min(n - 1, i));
		const top = this.at * ROW;
		if (top < this.box.scrollTop)
			this.box.scrollTop = top;
		else if (top + ROW > this.box.scrollTop + h)
			this.box.scrollTop = top + ROW - h;
		this.draw();
		if (this.onMove)
			this.onMove();
	}
	page() { return Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1); }
	open(i, e) {
		this.go(i);
		if (this.at >= 0 && this.at < this.size())
			this.onOpen(this.at, e);
	}
}

/* ---- the records ---- */
let isClock = true;
const runStart = () => {
	const run = [...runs.values()].pop();
	return run && run.start ? int(run.start.time) : tMin;
};
const since = (ms) => {
	const sign = ms < 0 ? '−' : '+', s = Math.abs(ms) / 1000;
	return sign + (s < 60 ? s.toFixed(3) : Math.floor(s / 60) + ':' + (s % 60).toFixed(3).padStart(6, '0'));
};
const clock = (t, ms = true) => {
	const d = new Date(t);
	return Number.isNaN(d.getTime()) ? '?' : pad(d.getHours(), 2) + ':' + pad(d.getMinutes(), 2) + ':' +
	    pad(d.getSeconds(), 2) + (ms ? '.' + pad(d.getMilliseconds(), 3) : '');
};
const stamp = (t) => isClock ? clock(t) : since(t - runStart());
const ruleWords = (rule) => {
	const [uid, name, place] = rule.split('\n');
	return { uid, name, place };
};

const list = new List('list', () => shown.length, (row, i) => {
	const ev = events[shown[i]];
	const room = (list.wide || 60);
	const cell = (s, most) => put(row.appendChild(el('span')), s, most);
	row.classList.add(ev.out);
	row.style.setProperty('--k', 'var(--k-' + ev.kind + ')');
	cell(stamp(ev.t));
	cell(ev.kind).className = 'k';
	cell(ev.what, room);
	cell(who(ev.node), 40);
	cell(ev.rule ? ruleWords(ev.rule).uid : '', 60);
	cell(ev.err, 20);
	cell(ev.n > 1 ? '×' + num(ev.n) : '');
}, () => details(true));
list.onMove = () => {
	details(false);
	timeline();
};

/* ---- tree and objects ---- */
let visible = [];
const flatten = () => {
	visible = [];
	const sums = [], todo = [tree];
	while (todo.length > 0) {
		const n = todo.pop();
		n.sum = n.own;
		sums.push(n);
		for (const k of n.kids)
			todo.push(k);
	}
	for (let i = sums.length - 1; i > 0; i--)
		if (sums[i].parent)
			sums[i].parent.sum += sums[i].sum;
	const walk = [...tree.kids].reverse().map((n) => [n, 0]);
	while (walk.length > 0) {
		const [n, depth] = walk.pop();
		n.depth = depth;
		visible.push(n);
		if (n.open)
			for (let i = n.kids.length - 1; i >= 0; i--)
				walk.push([n.kids[i], depth + 1]);
	}
};
const treeList = new List('tree', () => visible.length, (row, i) => {
	const n = visible[i];
	row.style.paddingLeft = 4 + Math.min(n.depth, 12) * 13 + 'px';
	row.setAttribute('aria-level', n.depth + 1);
	if (n.kids.length > 0)
		row.setAttribute('aria-expanded', n.open);
	row.classList.toggle('on', n === want.node);
	row.classList.toggle('zero', n.sum === 0);
	row.title = plain(cut(n.cmd, 600).join('…'));
	row.append(el('span', 'tw', n.kids.length === 0 ? '' : n.open ? '▾' : '▸'));
	const name = put(row.appendChild(el('span', 'name')), label(n), 40);
	if (n.pid)
		name.append(el('span', 'soft', ' ' + n.pid));
	row.append(el('span', 'n', num(n.sum)));
}, (i, e) => {
	const n = visible[i];
	if (e && e.target.classList.contains('tw') && n.kids.length > 0) {
		fold(n, !n.open);
		return;
	}
	filter({ node: want.node === n ? null : n });
});
const fold = (n, open) => {
	n.open = open;
	flatten();
	treeList.draw();
};
let objects = null;		/* in order, once they are looked at */
const sortObjects = () => {
	if (objects === null && !$('objs').hidden)
		objects = [...count.objects].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
};
const objList = new List('objs', () => objects ? objects.length : 0, (row, i) => {
	const [name, n] = objects[i];
	row.classList.toggle('on', name === want.object);
	put(row.appendChild(el('span', 'name')), name, 32);
	row.append(el('span', 'n', num(n)));
	row.title = plain(cut(name, 600).join('…'));
}, (i) => filter({ object: want.object === objects[i][0] ? null : objects[i][0] }));

const tab = (name, focus) => {
	for (const t of ['tree', 'objs']) {
		$(t).hidden = t !== name;
		$('tab-' + t).setAttribute('aria-selected', t === name);
		$('tab-' + t).tabIndex = t === name ? 0 : -1;
	}
	if (focus)
		$(focus === 'tab' ? 'tab-' + name : name).focus();
	sortObjects();
	(name === 'tree' ? treeList : objList).draw();
};

/* ---- policy lines ---- */
const isOrder = (v) => v.startsWith('(') && v.endsWith(')');
const quote = (v) => JSON.stringify(v).replace(/[\p{C}\p{Zl}\p{Zp}\p{DI}]/gu, (c) =>
	[...Array(c.length).keys()].map((i) => '\\u' + c.charCodeAt(i).toString(16).padStart(4, '0')).join(''));
const BLOCK_MAX = 1000;
const first = (all, n) => {
	const out = [];
	for (const v of all) {
		if (out.length >= n)
			break;
		out.push(v);
	}
	return out;
};
/* One block of JSONC: entries to add, and in comments what else to do. */
const block = (lines, notes = []) => {
	const root = new Map();
	let left = BLOCK_MAX, over = 0, all = 0, claims = 0;
	for (const [key, values] of lines) {
		over += Math.max(0, values.size - BLOCK_MAX);
		for (const v of first(values.keys(), BLOCK_MAX).sort()) {
			if (isOrder(v)) {
				notes.push(plain(key + ': ' + v.slice(1, -1)));
			} else if (v.includes('\ufffd')) {
				notes.push(plain(key + ': a name that is not UTF-8: no entry can name it'));
			} else if (left-- <= 0) {
				over++;
			} else {
				let at = root;
				all++;
				claims += values.get(v) ? 1 : 0;
				for (const part of key.split('.'))
					at = at.get(part) || at.set(part, new Map()).get(part);
				at.set(v, /^\d+$/.test(v) ? v : quote(v));
			}
		}
	}
	if (claims > 0)
		notes.push(num(claims) + ' of ' + num(all) + ' rest on what processes inside said of themselves');
	if (over > 0)
		notes.push(times(over, 'more entry is', 'more entries are') + ' not listed: narrow the filters');
	const out = notes.map((n) => '// ' + n);
	const write = (map, indent) => {
		const all = [...map], last = all.length - 1;
		all.forEach(([k, v], i) => {
			const comma = i < last ? ',' : '';
			if (typeof v === 'string') {
				out.push(indent + v + comma);
				return;
			}
			const isList = typeof v.values().next().value === 'string';
			out.push(indent + quote(k) + ': ' + (isList ? '[' : '{'));
			write(v, indent + '\t');
			out.push(indent + (isList ? ']' : '}') + comma);
		});
	};
	if (root.size > 0) {
		out.push('{');
		write(root, '\t');
		out.push('}');
	}
	return out.join('\n');
};
/* The same in a line; what the rule's own key says is not said again. */
const oneLine = (lines, own = '') => {
	const home = own.slice(0, own.lastIndexOf('.') + 1);
	const out = [];
	for (const [key, values] of lines) {
		const few = first(values.keys(), 20), adds = few.filter((v) => !isOrder(v)).slice(0, 2);
		const name = key === own ? '' : (home && key.startsWith(home) ? key.slice(home.length) : key) + ' ', left = values.size - adds.length - few.filter(isOrder).length;
		if (adds.length > 0)
			out.push(name + '+= ' + adds.map((v) => /^\d+$/.test(v) ? v : quote(v)).join(', ') +
			    (left > 0 ? ' … ' + num(left) + ' more' : ''));
		for (const o of few.filter(isOrder).slice(0, 2))
			out.push(name + o);
	}
	return out.join('; ');
};
const copyText = (text, b) => {
	const done = (ok) => {
		const was = b.dataset.label || (b.dataset.label = b.textContent);
		b.textContent = ok ? 'Copied' : 'Select it';
		say(ok ? 'Copied' : 'The browser did not copy');
		clearTimeout(b.timer);
		b.timer = setTimeout(() => { b.textContent = was; }, 1500);
	};
	const byHand = () => {
		const t = el('textarea', 'unseen'), back = document.activeElement;
		t.value = text;
		document.body.append(t);
		t.select();
		const ok = document.execCommand('copy');
		t.remove();
		if (back)
			back.focus();
		done(ok);
	};
	if (navigator.clipboard)
		navigator.clipboard.writeText(text).then(() => done(true), byHand);
	else
		byHand();
};
let blockText = '';

/* ---- drawing ---- */
const drawFacts = () => {
	const all = [...runs.values()], run = all[all.length - 1], dl = $('facts');
	dl.replaceChildren();
	const fact = (name, node, cls) => dl.append(el('div', '', el('dt', '', name), put(el('dd', cls), node, 300)));
	if (!run) {
		$('cmd').textContent = isDone ? 'an empty trace' : 'reading…';
		return;
	}
	const first = run.start || run.first, top = tree.kids.find((n) => n.cmd);
	const cmd = str(obj(first.process).cmd_line) || (top ? top.cmd : '') ||
	    unprefixed(first).replace(/^run started: /, '');
	$('cmd').replaceChildren();
	put($('cmd'), cmd, 400);
	$('cmd').title = plain(cut(cmd, 2000).join('…'));
	document.title = plain(cut(cmd, 60).join('…')) + ' · fence trace';
	const status = run.end ? obj(obj(run.end.unmapped).fence).exit_status : undefined;
	if (run.end)
		fact('exit status', status === undefined ? '?' : str(status) + (status > 128 && status < 193 ?
		    ' (128 + ' + (status - 128) + ')' : ''), status === 0 ? 'good' : 'bad');
	else
		fact('exit status', isDone ? 'no end recorded' : '…', isDone ? 'bad' : '');
	const from = int(first.time), to = run.end ? int(run.end.time) : tMax;
	fact('duration', (to - from < 60000 ? ((to - from) / 1000).toFixed(3) + ' s' :
	    since(to - from).slice(1)) + (run.end ? '' : ' so far'));
	const d = new Date(from);
	if (!Number.isNaN(d.getTime()))
		fact('started', d.getFullYear() + '-' + pad(d.getMonth() + 1, 2) + '-' + pad(d.getDate(), 2) + ' ' + clock(from, false));
	fact('policy', str(obj(first.policy).name));
	fact('host', str(obj(first.device).hostname));
	fact('records', num(events.length) + (isDone ? '' : ', reading…'));
	fact('run', run.id.slice(0, 8));
};
const drawNotices = () => {
	const ul = $('notices'), out = [];
	const li = (head, text) => out.push(put(el('li', '', el('b', '', head)), text, 400));
	let missing = 0, open = 0;
	for (const run of runs.values()) {
		missing += run.missing;
		open += run.end ? 0 : 1;
	}
	if (dropped > 0)
		li('The trace is incomplete: ', times(dropped, 'record was', 'records were') + ' dropped: the reader was slow, or a limit was met.');
	if (missing > 0)
		li('Records are missing: ', times(missing, 'number') + ' of the sequence did not come.');
	if (ends.malformed > 0)
		li('Not shown: ', times(ends.malformed, 'line') + ' of the file ' + (ends.malformed === 1 ? 'is no record' : 'are no records') +
		    ' (line ' + num(ends.firstMalformed) + (ends.malformed > 1 ? ' is the first' : '') + ').');
	if (ends.isCut)
		li('The file ends within a line: ', 'it was cut, or the run still lasts.');
	if (ends.leftOut > 0)
		li('Not shown: ', times(ends.leftOut, 'more record') + ' of the file; a page holds no more.');
	if (isDone && open > 0)
		li('No end recorded: ', 'the run still lasted when this page was made, or was killed with its monitor.');
	if (runs.size > 1)
		li('More than one run: ', 'the file holds ' + num(runs.size) + '; the head of the page is the last one\'s.');
	for (const [title, f] of [...trouble].slice(0, 20))
		if (!/^records were dropped/.test(title))
			li(plain(title) + (f.n > 1 ? ' (' + num(f.n) + ' times)' : '') + (f.desc ? ': ' : ''), f.desc);
	ul.replaceChildren(...out);
};
const kindWord = (k, n) => (WORDS[k] || k) + (n === 1 ? '' : 's');
const toggleKind = (k) => {
	const kinds = new Set(want.kinds);
	if (!kinds.delete(k))
		kinds.add(k);
	filter({ kinds });
};
const seen = new Set();		/* tiles that stay, though their count is 0 now */
const drawTiles = () => {
	const focus = document.activeElement && document.activeElement.dataset.tile;
	const out = [];
	const tile = (id, n, word, isOn, color, cls, fn) => {
		if (n > 0 && isDone)
			seen.add(id);
		if (n === 0 && !isOn && !seen.has(id) && id !== 'out-refused')
			return;
		const b = button('', fn, cls);
		b.append(el('b', '', num(n)), el('span', '', word));
		b.setAttribute('aria-pressed', isOn);
		b.dataset.tile = id;
		b.classList.toggle('none', n === 0);
		if (color)
			b.style.setProperty('--k', color);
		out.push(b);
	};
	let all = 0;
	for (const n of count.out.values())
		all += n;
	tile('out-all', all, 'in all', want.out === null, '', 'out', () => filter({ out: null }));
	for (const o in OUTCOMES)
		tile('out-' + o, count.out.get(o) || 0, OUTCOMES[o], want.out === o, '', 'out' + (o === 'refused' ? ' bad' : ''),
		    () => filter({ out: want.out === o ? null : o }));
	out.push(el('i'));
	for (const k of KINDS) {
		const n = count.kind.get(k) || 0;
		if (!/^(call|notice|run)$/.test(k))
			tile('kind-' + k, n, kindWord(k, n), want.kinds.has(k), 'var(--k-' + k + ')', '', () => toggleKind(k));
	}
	$('tiles').replaceChildren(...out);
	const again = focus && out.find((b) => b.dataset && b.dataset.tile === focus);
	if (again)
		again.focus();
};
const GROUPS = 100;
const drawRules = () => {
	const body = $('rules').tBodies[0], groups = [...count.rules].sort((a, b) => b[1].n - a[1].n), out = [];
	const focus = document.activeElement && document.activeElement.rule;
	for (const [rule, g] of groups.slice(0, GROUPS)) {
		const w = ruleWords(rule), tr = el('tr'), td = () => tr.appendChild(el('td'));
		tr.classList.toggle('on', want.rule === rule);
		td().append(num(g.n));
		tr.firstChild.className = 'num';
		const b = button('', () => filter({ rule: want.rule === rule ? null : rule }));
		put(b, w.uid + (w.name ? ' "' + w.name + '"' : ''), 90);
		b.setAttribute('aria-pressed', want.rule === rule);
		b.rule = rule;
		const cell = td();
		cell.append(b);
		if (w.place)
			put(cell.appendChild(el('span', 'soft')), '  ' + w.place, 60);
		cell.title = plain(cut(w.uid + ' "' + w.name + '" ' + w.place, 600).join('…'));
		const most = [], objs = td();
		for (const o of g.objects)
			if (most.length < 3 || o[1] > most[2][1]) {
				most.push(o);
				most.sort((a, c) => c[1] - a[1]).splice(3);
			}
		put(objs, most.map((o) => o[0]).join(', '), 76);
		if (g.objects.size > most.length)
			objs.append(el('span', 'soft', ' … ' + num(g.objects.size - most.length) + ' more'));
		objs.title = most.map((o) => plain(cut(o[0], 300).join('…'))).join('\n');
		const line = td(), last = td();
		if (g.lines.size > 0) {
			put(line, oneLine(g.lines, w.uid.replace(/\[\d+\]$/, '')), 110);
			line.title = plain(cut(oneLine(g.lines), 900).join('…'));
			last.append(button('Copy', (e) => copyText(block(g.lines), e.currentTarget), 'cp', 'Copy the policy lines of ' + plain(w.uid)));
		} else {
			line.append(el('span', 'soft', 'no line of a policy'));
		}
		out.push(tr);
	}
	if (groups.length === 0) {
		const tr = el('tr'), td = el('td', 'empty', isDone ? 'Nothing was refused' + (isWhole ? '' : ' among the records shown') + '.' : 'reading…');
		td.colSpan = 5;
		tr.append(td);
		out.push(tr);
	}
	if (groups.length > GROUPS) {
		const td = el('td', 'empty', num(groups.length - GROUPS) + ' more rules: narrow the filters');
		td.colSpan = 5;
		out.push(el('tr', '', td));
	}
	$('h-rules').textContent = 'Rules that refused' + (groups.length > 1 ? ' · ' + num(groups.length) : '');
	body.replaceChildren(...out);
	if (focus) {
		const again = [...body.querySelectorAll('button')].find((b) => b.rule === focus);
		if (again)
			again.focus();
	}
};
const drawBlock = () => {
	const pre = $('block');
	blockText = block(count.block, count.noLine > 0 && count.block.size > 0 ?
	    [times(count.noLine, 'refusal has', 'refusals have') + ' no line that would allow it'] : []);
	$('copy').disabled = blockText === '';
	pre.replaceChildren();
	if (blockText === '')
		pre.append(el('span', 'soft', count.noLine > 0 ? '// no line of a policy allows what was refused here' : '// nothing to allow'));
	else
		pre.textContent = blockText.length > 20000 ? blockText.slice(0, 20000) + '\n… Copy has all of it' : blockText;
};
const drawChips = () => {
	const out = [];
	const chip = (name, text, none) => {
		const b = button('', () => { filter(none); list.box.focus(); }, '', 'Remove the filter ' + name + ' ' + plain(text));
		put(b, '✕ ' + name + ' ' + text, 60);
		out.push(b);
	};
	if (want.node)
		chip('process', who(want.node), { node: null });
	if (want.rule !== null)
		chip('rule', ruleWords(want.rule).uid || 'none', { rule: null });
	if (want.object !== null)
		chip('object', want.object, { object: null });
	if (want.t0 !== -Infinity)
		chip('time', stamp(want.t0) + '–' + stamp(want.t1), { t0: -Infinity, t1: Infinity });
	$('chips').replaceChildren(...out);
	$('shown').textContent = num(shown.length) + (shown.length === events.length ? '' : ' of ' + num(events.length)) +
	    (events.length === 1 ? ' record' : ' records');
};
const colours = new Map();
const readColours = () => {
	const probe = document.body.appendChild(el('i'));
	for (const k of KINDS.concat(['ink', 'soft', 'line', 'link'])) {
		probe.style.color = 'var(--' + (KINDS.includes(k) ? 'k-' : '') + k + ')';
		colours.set(k, getComputedStyle(probe).color);
	}
	probe.remove();
};
const view = () => {
	let a = want.t0 === -Infinity ? tMin : want.t0, b = want.t1 === Infinity ? tMax : want.t1;
	if (!(a <= b))
		a = b = 0;
	return b - a < 10 ? [a - 5, b + 5] : [a, b];
};
const BAR = 4;
const timeline = () => {
	const c = $('line'), w = c.clientWidth, h = c.clientHeight, scale = devicePixelRatio || 1;
	const [a, b] = view(), bins = Math.max(1, Math.floor(w / BAR)), data = new Float64Array(bins * KINDS.length);
	const sums = new Float64Array(bins), totals = new Map();
	for (let i = 0; i < passed; i++) {
		const ev = events[i];
		if ((fails[i] & ~F_TIME) !== 0 || ev.t < a || ev.t > b)
			continue;
		const at = Math.min(bins - 1, Math.floor((ev.t - a) / (b - a) * bins));
		data[at * KINDS.length + KINDS.indexOf(ev.kind)] += ev.n;
		sums[at] += ev.n;
		more(totals, ev.kind, ev.n);
	}
	const most = Math.max(1, ...sums), g = c.getContext('2d');
	c.width = w * scale;
	c.height = h * scale;
	g.scale(scale, scale);
	g.fillStyle = colours.get('line');
	for (let i = 1; i < 8; i++)
		g.fillRect(Math.round(w * i / 8), 0, 1, h);
	g.fillRect(0, h - 1, w, 1);
	for (let x = 0; x < bins; x++) {
		if (sums[x] === 0)
			continue;
		const full = Math.max(4, sums[x] / most * (h - 6));
		let y = h - 1;
		for (let k = 0; k < KINDS.length; k++) {
			const part = data[x * KINDS.length + k] / sums[x] * full;
			if (part > 0) {
				g.fillStyle = colours.get(KINDS[k]);
				g.fillRect(x * BAR, y - part, BAR - 1, part);
				y -= part;
			}
		}
	}
	const ev = events[shown[list.at]];
	if (ev && ev.t >= a && ev.t <= b) {
		g.fillStyle = colours.get('link');
		g.fillRect(Math.min(w - 2, Math.round((ev.t - a) / (b - a) * w)), 0, 2, h);
	}
	$('from').textContent = events.length > 0 ? stamp(a) : '';
	$('to').textContent = events.length > 0 ? stamp(b) : '';
	$('whole').hidden = want.t0 === -Infinity;
	$('legend').replaceChildren(...[...totals].sort((p, q) => q[1] - p[1]).map(([k]) => {
		const s = el('span', '', k);
		s.style.setProperty('--k', 'var(--k-' + k + ')');
		return s;
	}));
	c.setAttribute('aria-label', 'Timeline from ' + $('from').textContent + ' to ' + $('to').textContent + ': ' +
	    ([...totals].map(([k, n]) => num(n) + ' ' + kindWord(k, n)).join(', ') || 'nothing'));
};
const draw = () => {
	isWhole = want.out === null && want.kinds.size === 0 && want.rule === null && want.node === null &&
	    want.object === null && want.words.length === 0 && want.t0 === -Infinity;
	if (keep >= 0) {
		list.at = shown.indexOf(keep);
		keep = -1;
	}
	objects = null;
	flatten();
	measure();
	drawFacts();
	drawNotices();
	drawTiles();
	drawRules();
	drawBlock();
	drawChips();
	sortObjects();
	list.draw();
	treeList.draw();
	objList.draw();
	details(false);
	timeline();
};
/* How many characters of a name have room in a row. */
const measure = () => {
	const cols = document.querySelector('.cols').children[2];
	list.wide = Math.max(8, Math.floor(cols.clientWidth / 7.25));
};

/* ---- details ---- */
let isOpen = false;
const LONG = 400;
function details(open) {
	const box = $('det'), ev = events[shown[list.at]];
	if (open && !isOpen) {
		isOpen = true;
		box.hidden = false;
		document.querySelector('.low').classList.add('open');
		measure();
		list.later();
	}
	if (!isOpen)
		return;
	if (!ev) {
		closeDetails();
		return;
	}
	const r = ev.r, dl = el('dl'), fence = obj(obj(r.unmapped).fence), actor = obj(obj(r.actor).process);
	const row = (name, ...nodes) => {
		const dd = el('dd', '', ...nodes);
		dl.append(el('dt', '', name), dd);
		return dd;
	};
	const whole = (s) => {
		const span = put(el('span'), s, LONG);
		if (s.length > LONG)
			span.append(' ', button('Show all ' + num(s.length) + ' characters', () => { span.replaceChildren(); put(span, s); }));
		return span;
	};
	const words = (name, s) => { row(name, s).className = 'words'; };
	const head = el('div', 'head', el('h2', '', ev.call + (ev.out === ev.kind ? '' : ', ' + ev.out)),
	    button('Close', closeDetails, '', 'Close the details'));
	if (ev.object)
		row('object', whole(ev.object), el('br'), button('Only this object', () => filter({ object: ev.object })));
	if (ev.what !== ev.object)
		row(ev.object ? 'in full' : 'what', whole(ev.what));
	if (ev.err)
		row('answer', whole(ev.err));
	if (str(r.status_detail))
		row('reason', whole(str(r.status_detail))).className = 'words';
	row('time', clock(ev.t) + '  ' + since(ev.t - runStart()));
	if (ev.n > 1)
		row('count', num(ev.n) + (int(r.start_time) ? ', ' + clock(int(r.start_time)) + '–' + clock(int(r.end_time)) : ''));
	if (ev.rule) {
		const w = ruleWords(ev.rule);
		row('rule', whole(w.uid + (w.name ? ' "' + w.name + '"' : '')), el('br'), whole(w.place), el('br'),
		    button('Only this rule', () => filter({ rule: ev.rule })));
	}
	const m = remedyOf(r);
	if (m) {
		const lines = addRemedy(new Map(), m);
		const dd = row('would allow', whole(oneLine(lines)));
		if (m.flag && /^[\w@%+=:,./~-]+$/.test(m.value))
			dd.append(el('br'), el('span', 'soft', 'for one run: '), m.flag + ' ' + m.value);
		dd.append(el('br'), button('Copy the lines', (e) => copyText(block(lines), e.currentTarget)));
	} else if (ev.out === 'refused') {
		words('would allow', 'no line of a policy');
	}
	if (ev.node) {
		const ol = el('ol'), chain = Array.isArray(actor.ancestry) ? actor.ancestry.map(obj).slice(0, 64).reverse() : [];
		for (const p of chain.concat([actor])) {
			const li = el('li', '', put(el('b'), (str(p.name) || '?') + (int(p.pid) ? '[' + p.pid + ']' : ''), 80));
			if (str(p.cmd_line))
				li.append(el('br'), whole(str(p.cmd_line)));
			ol.append(li);
		}
		row('process', ol, button('Only this process', () => filter({ node: ev.node })));
		if (str(actor.path))
			row('program', whole(str(actor.path)));
		if (str(actor.working_directory))
			row('folder', whole(str(actor.working_directory)));
	}
	if (str(fence.moved_to))
		row('moved to', whole(str(fence.moved_to)));
	words('seen by', str(fence.witness) + (fence.trust === 'claim' ? ' (claimed by the program; process, rule and remedy are fence\'s own finding)' : '') +
	    (fence.actor === 'guess' ? '; the process was gone, and is the one that had called' : ''));
	if (fence.enforcer !== 'none' && ev.out === 'refused')
		words('refused by', str(fence.enforcer));
	row('record', num(int(obj(r.metadata).sequence)));
	const raw = el('details', '', el('summary', '', 'Record as JSON'));
	raw.addEventListener('toggle', () => {
		if (raw.childElementCount > 1)
			return;
		const pre = raw.appendChild(el('pre'));
		for (const line of JSON.stringify(r, null, 1).split('\n')) {
			putPart(pre, line);
			pre.append('\n');
		}
	});
	box.replaceChildren(head, dl, raw);
	box.scrollTop = 0;
}
const closeDetails = () => {
	const back = $('det').contains(document.activeElement);
	isOpen = false;
	$('det').hidden = true;
	$('det').replaceChildren();
	document.querySelector('.low').classList.remove('open');
	measure();
	list.later();
	if (back)
		list.box.focus();
};

/* ---- what a person does ---- */
const words = (text) => text.trim().split(/\s+/).filter(Boolean).slice(0, 12).map((w) => {
	const m = /^(-?)(?:(proc|rule|obj):)?(.*)$/s.exec(w);
	return { not: m[1] === '-' && m[3] !== '', where: m[2] || '', text: m[3].toLowerCase() };
}).filter((w) => w.text !== '');
const search = () => filter({ words: words($('q').value) });
const clearAll = () => {
	$('q').value = '';
	filter({ out: null, kinds: new Set(), rule: null, node: null, object: null, words: [], t0: -Infinity, t1: Infinity });
};
const zoom = (factor, shift = 0) => {
	const [a, b] = view(), ev = events[shown[list.at]];
	const mid = ev && factor < 1 && ev.t >= a && ev.t <= b ? ev.t : (a + b) / 2;
	const half = (b - a) * factor / 2, by = (b - a) * shift;
	let t0 = Math.max(tMin, Math.round(mid - half + by)), t1 = Math.min(tMax, Math.round(mid + half + by));
	if (t0 <= tMin && t1 >= tMax)
		t0 = -Infinity, t1 = Infinity;
	if (t0 <= t1)
		filter({ t0, t1 });
};
const themes = ['system', 'light', 'dark'];
const theme = () => {
	const root = document.documentElement, at = (themes.indexOf(root.dataset.theme || 'system') + 1) % 3;
	if (at === 0)
		delete root.dataset.theme;
	else
		root.dataset.theme = themes[at];
	$('theme').textContent = 'Colours: ' + themes[at];
	readColours();
	timeline();
};
const toggleClock = () => {
	isClock = !isClock;
	$('clock').setAttribute('aria-pressed', !isClock);
	$('clock').textContent = 'Clock: ' + (isClock ? 'time of day' : 'since the start');
	list.draw();
	drawChips();
	timeline();
};
const here = () => document.activeElement === treeList.box ? treeList :
    document.activeElement === objList.box ? objList : list;
const back = () => {
	if (isOpen)
		closeDetails();
	else if (!isWhole)
		clearAll();
};
const move = (by) => here().go(here().at < 0 ? 0 : here().at + by);
const KEYS = {
	j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
	PageDown: () => move(here().page()), PageUp: () => move(-here().page()),
	g: () => here().go(0), Home: () => here().go(0), G: () => here().go(Infinity), End: () => here().go(Infinity),
	Enter: () => here().open(Math.max(0, here().at)), Escape: back,
	'/': () => { $('q').focus(); $('q').select(); },
	p: () => tab('tree', 'list'), o: () => tab('objs', 'list'), e: () => list.box.focus(),
	c: () => { if (blockText) copyText(blockText, $('copy')); }, t: toggleClock, d: theme,
	'?': () => $('keys').showModal(),
	'+': () => zoom(.5), '=': () => zoom(.5), '-': () => zoom(2), '0': () => filter({ t0: -Infinity, t1: Infinity }),
	'[': () => zoom(1, -.5), ']': () => zoom(1, .5),
};
const treeKey = (key) => {
	const n = visible[treeList.at];
	if (here() !== treeList || !n)
		return false;
	if (key === 'ArrowRight' && n.kids.length > 0)
		n.open ? move(1) : fold(n, true);
	else if (key === 'ArrowLeft' && n.open && n.kids.length > 0)
		fold(n, false);
	else if (key === 'ArrowLeft' && n.parent !== tree)
		treeList.go(visible.indexOf(n.parent));
	return true;
};
document.addEventListener('keydown', (e) => {
	const at = e.target, isField = at === $('q'), isButton = at.closest && at.closest('button, summary') !== null;
	if (e.ctrlKey || e.metaKey || e.altKey || $('keys').open)
		return;
	if (isField) {
		if (e.key === 'Escape' && $('q').value !== '') {
			$('q').value = '';
			search();
		} else if (e.key === 'Escape' || e.key === 'Enter' || e.key === 'ArrowDown') {
			list.box.focus();
			if (e.key !== 'Escape' && list.at < 0)
				list.go(0);
		} else {
			return;
		}
		e.preventDefault();
		return;
	}
	if ((e.key === 'ArrowLeft' || e.key === 'ArrowRight')) {
		if (at.getAttribute && at.getAttribute('role') === 'tab')
			tab(at.id === 'tab-tree' ? 'objs' : 'tree', 'tab');
		else if (!treeKey(e.key))
			return;
		e.preventDefault();
		return;
	}
	if (!Object.hasOwn(KEYS, e.key) || (isButton && e.key === 'Enter'))
		return;
	if (at.closest('#det, pre, .scroll') && /^(Arrow|Page|Home|End)/.test(e.key))
		return;
	KEYS[e.key]();
	e.preventDefault();
});
let typing = 0;
$('q').addEventListener('input', () => {
	clearTimeout(typing);
	typing = setTimeout(search, events.length > 20000 ? 120 : 0);
});
for (const [id, key] of Object.entries({ clock: 't', theme: 'd', help: '?', whole: '0', copy: 'c' }))
	$(id).onclick = KEYS[key];
for (const t of ['tree', 'objs'])
	$('tab-' + t).onclick = () => tab(t);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); timeline(); });
addEventListener('resize', () => { measure(); list.later(); timeline(); });

let dragFrom = null;
const timeAt = (x) => {
	const [a, b] = view(), box = $('line').getBoundingClientRect();
	return a + Math.max(0, Math.min(1, (x - box.left) / box.width)) * (b - a);
};
const showDrag = (x) => {
	const box = $('line').getBoundingClientRect(), left = Math.max(box.left, Math.min(x, dragFrom));
	const d = $('drag'), right = Math.min(box.right, Math.max(x, dragFrom));
	d.hidden = false;
	d.style.left = left - $('time').getBoundingClientRect().left + 'px';
	d.style.width = Math.max(0, right - left) + 'px';
};
const line = $('line');
line.onpointerdown = (e) => {
	dragFrom = e.clientX;
	line.setPointerCapture(e.pointerId);
};
line.onpointermove = (e) => { if (dragFrom !== null) showDrag(e.clientX); };
line.onpointerup = (e) => {
	const from = dragFrom, t0 = Math.floor(timeAt(Math.min(from, e.clientX))), t1 = Math.ceil(timeAt(Math.max(from, e.clientX)));
	dragFrom = null;
	$('drag').hidden = true;
	if (Math.abs(e.clientX - from) > 4) {
		filter({ t0, t1 });
	} else {		/* a click goes to the record that is nearest */
		let best = -1, least = Infinity;
		shown.forEach((n, i) => {
			const d = Math.abs(events[n].t - (t0 + t1) / 2);
			if (d < least) {
				least = d;
				best = i;
			}
		});
		if (best >= 0)
			list.go(best);
	}
};
line.onpointercancel = () => { dragFrom = null; $('drag').hidden = true; };

/* ---- reading ---- */
const readBlock = (node) => {
	let last = NONE;
	for (const change of JSON.parse(node.textContent)) {
		last = changed(last, change);
		add(last);
	}
};
let drawnAt = 0;
const step = () => {
	const node = document.querySelector('script[type="application/json"]');
	if (!node || (node.nextElementSibling === null && document.readyState === 'loading')) {
		setTimeout(step, 20);	/* the document still comes */
		return;
	}
	if (node.id === 'end') {
		Object.assign(ends, JSON.parse(node.textContent));
		isDone = true;
	} else {
		readBlock(node);
	}
	node.remove();		/* its text is read, its memory is free */
	if (isDone) {
		if (events.some((ev) => ev.out === 'refused'))
			want.out = 'refused';
		restart();
		document.documentElement.dataset.done = '1';
		return;
	}
	if (performance.now() - drawnAt > 400) {
		drawnAt = performance.now();
		sift(pass);
		drawnAt = performance.now();
	}
	setTimeout(step, 0);
};
count = fresh();
readColours();
step();
})();
