/*
 * drive.cjs PLAYWRIGHT PROFILE KNOWN HOSTILE MANY REAL COPIED: opens four pages
 * in Chromium and uses them; prints TAP lines.  KNOWN and HOSTILE are of
 * `traces`, MANY has 100,000 records; the policy lines of REAL go to the file
 * COPIED.  Nothing is timed: what must stay small is counted.
 */
'use strict';
const fs = require('fs');
const [playwright, profile, known, hostile, many, real, copied] = process.argv.slice(2);
const { chromium } = require(playwright);
const N = 100000, MOST_NODES = 2500;

const note = (text) => console.log(String(text).replace(/^/gm, '# '));
const ok = (is, name) => console.log((is ? 'ok' : 'not ok') + ' - ' + name);
const same = (got, want, name) => {
	const a = JSON.stringify(got), b = JSON.stringify(want);
	ok(a === b, name);
	if (a !== b)
		note('got:  ' + a + '\nwant: ' + b);
};

/* ---- what goes wrong anywhere ---- */
let asked = [], errors = [], alerts = 0;

const open = async (context, file) => {
	const page = await context.newPage();
	page.on('pageerror', (e) => errors.push(e.stack));
	page.on('dialog', (d) => { alerts++; d.dismiss(); });
	page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()); });
	await page.goto('file://' + file);
	await page.waitForSelector('[data-done]', { state: 'attached' });
	return page;
};
const quiet = (name) => {
	same(errors, [], name + ': no error in the console');
	same(asked, [], name + ': no request leaves');
	same(alerts, 0, name + ': no alert');
	errors = [];
	asked = [];
	alerts = 0;
};

/* ---- what a person sees ---- */
const text = (page, css) => page.$eval(css, (e) => e.textContent);
const rows = (page, css = '#list .row') => page.$$eval(css, (all) => all.map((r) => [...r.children].map((c) => c.textContent)));
const whats = async (page) => (await rows(page)).map((r) => r[2]);
const tiles = (page) => page.$$eval('#tiles button', (all) => all.map((b) => b.textContent));
const tile = (page, name) => page.click('#tiles button:has(span:text-is("' + name + '"))');
const press = async (page, ...keys) => {
	for (const k of keys)
		await page.keyboard.press(k);
};
const inTree = (page, name) => page.click('#tree .row:has-text("' + name + '") .name');
const shown = (page) => text(page, '#shown');
const nodes = (page) => page.evaluate(() => document.querySelectorAll('*').length);
/* Lists are drawn before the next frame. */
const frame = (page) => page.evaluate(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(done))));

const block = (lines) => lines.join('\n');
const ALL_LINES = block(['// 1 refusal has no line that would allow it',
	'// 4 of 6 rest on what processes inside said of themselves', '{',
	'\t"filesystem": {', '\t\t"allowRead": [', '\t\t\t"~/.ssh/id_0",', '\t\t\t"~/.ssh/id_1",', '\t\t\t"~/.ssh/id_2"', '\t\t],',
	'\t\t"allowWrite": [', '\t\t\t"/srv"', '\t\t]', '\t},',
	'\t"network": {', '\t\t"allowedDomains": [', '\t\t\t"evil.test"', '\t\t],', '\t\t"hostPorts": [', '\t\t\t5432', '\t\t]', '\t}', '}']);
const SRV_LINES = block(['// 1 of 1 rest on what processes inside said of themselves', '{', '\t"filesystem": {', '\t\t"allowWrite": [', '\t\t\t"/srv"', '\t\t]', '\t}', '}']);

const seesAll = async (page) => {
	same(await text(page, '#cmd'), 'sh -c ./build.sh', 'the command');
	same((await text(page, '#facts')).match(/exit status(\d+)duration([\d.]+ s)/).slice(1), ['3', '9.000 s'], 'status and duration');
	same(await tiles(page), ['20in all', '16refused', '1allowed', '1calls told', '10writes', '3reads', '1execution', '1connection', '1name'],
	    'refusals by kind, folded ones counted');
	same(await page.$$eval('#rules tbody tr', (all) => all.map((r) => [...r.cells].map((c) => c.textContent).slice(0, 4))), [
		['10', 'filesystem.allowWrite  fence.jsonc:8:5', '/srv/x3, /srv/x2, /srv/x1 … 1 more', '+= "/srv"'],
		['3', 'filesystem.denyRead[0] "~/.ssh"  fence.jsonc:3:5', '/home/u/.ssh/id_0, /home/u/.ssh/id_1, /home/u/.ssh/id_2',
		    'allowRead += "~/.ssh/id_0", "~/.ssh/id_1" … 1 more'],
		['1', 'network.allowedDomains  fence.jsonc:12:5', 'evil.test', '+= "evil.test"'],
		['1', 'network.hostPorts  fence.jsonc', '127.0.0.1:5432', '+= 5432'],
		['1', 'command.deny[0] "git push"  fence.jsonc:15:3', '/usr/bin/git', 'no line of a policy'],
	], 'rules with counts and remedies');
	same(await text(page, '#block'), ALL_LINES, 'the policy lines of all');
	same(await rows(page, '#tree .row'), [['▾', 'sh 100', '16'], ['', 'cat 101', '3'], ['', 'touch 102', '10'], ['', 'curl 103', '2']],
	    'the process tree with counts');
	same(await shown(page), '10 of 14 records', 'refusals are shown first');
	same(await text(page, '#notices'), '', 'nothing is missing, and nothing says so');
};
const filters = async (page) => {
	await tile(page, 'reads');
	same(await whats(page), [0, 1, 2].map((i) => '/home/u/.ssh/id_' + i), 'filter: kind');
	await tile(page, 'name');
	same(await shown(page), '4 of 14 records', 'filter: two kinds');
	await tile(page, 'reads');
	await tile(page, 'name');
	await tile(page, 'allowed');
	same(await whats(page), ['GET http://good.test/'], 'filter: outcome');
	await tile(page, 'calls told');
	same(await whats(page), ['getenv("HOME") = "/home/u"'], 'a call that the policy wants told');
	await tile(page, 'in all');
	same(await shown(page), '14 records', 'filter: none');
	await tile(page, 'refused');
	await page.click('#rules button:has-text("allowWrite")');
	same(await whats(page), [0, 1, 2, 3].map((i) => '/srv/x' + i), 'filter: rule');
	same(await text(page, '#block'), SRV_LINES, 'filter: rule: its policy lines alone');
	await page.click('#chips button');
	same(await shown(page), '10 of 14 records', 'filter: a chip removes it');
	await inTree(page, 'curl');
	same(await whats(page), ['evil.test A', '127.0.0.1:5432'], 'filter: process');
	await inTree(page, 'sh 100');
	same(await shown(page), '10 of 14 records', 'filter: a process and its children');
	await inTree(page, 'sh 100');
	await press(page, 'o');
	same((await rows(page, '#objs .row'))[0], ['/srv/x3', '4'], 'objects, the most frequent first');
	await page.click('#objs .row:has-text("evil.test")');
	same(await whats(page), ['evil.test A'], 'filter: object');
	await press(page, 'Escape');
	for (const [words, want] of [['ssh id_1', 1], ['-srv', 10], ['proc:touch', 4], ['rule:denyread', 3], ['obj:/usr', 1],
	    ['proc:cat -id_2', 3], ['EROFS', 4], ['nothing-like-it', 0]]) {
		await page.fill('#q', words);
		await page.waitForFunction((n) => document.querySelectorAll('#list .row').length === n, want, { timeout: 5000 })
		    .then(() => ok(true, 'search: ' + words), () => ok(false, 'search: ' + words));
	}
	same(await text(page, '#rules .empty'), 'Nothing was refused among the records shown.', 'search: no rule is left');
	await press(page, 'Escape', 'Escape', 'Escape');
	same([await shown(page), await page.inputValue('#q')], ['14 records', ''], 'Esc removes all filters');
	await tile(page, 'refused');
};
const timeline = async (page) => {
	const box = await (await page.$('#line')).boundingBox();
	const x = (s) => box.x + box.width * s / 9;
	await page.mouse.move(x(1.5), box.y + 20);
	await page.mouse.down();
	await page.mouse.move(x(2.5), box.y + 20);
	await page.mouse.up();
	same(await whats(page), [0, 1, 2, 3].map((i) => '/srv/x' + i), 'dragging over the timeline shows that time alone');
	ok(/10 writes/.test(await page.getAttribute('#line', 'aria-label')), 'the timeline says what it shows');
	await page.click('#whole');
	same(await shown(page), '10 of 14 records', 'and back');
	await press(page, '+');
	ok((await shown(page)) !== '10 of 14 records', '+ zooms');
	await press(page, '0');
	same(await shown(page), '10 of 14 records', '0 shows all of it');
};
const cur = (page) => page.$$eval('#list .row.cur', (all) => all.map((r) => r.children[2].textContent).join());
const keyboard = async (page) => {
	await press(page, 'e', 'g');
	same(await cur(page), '/home/u/.ssh/id_0', 'e, g: the first record');
	await press(page, 'j', 'j', 'ArrowDown', 'k', 'ArrowUp');
	same(await cur(page), '/home/u/.ssh/id_1', 'j, k and arrows');
	same(await page.getAttribute('#list', 'aria-activedescendant'), 'list-1', 'a screen reader is told');
	ok(!await page.isVisible('#det'), 'no details yet');
	await press(page, 'Enter');
	ok((await text(page, '#det')).includes('/home/u/.ssh/id_1'), 'Enter: details');
	await press(page, 'j');
	ok((await text(page, '#det')).includes('/home/u/.ssh/id_2'), 'the details follow');
	ok(/for one run: -r ~\/.ssh\/id_2/.test(await text(page, '#det')), 'the option for one run');
	await press(page, 'Escape');
	ok(!await page.isVisible('#det'), 'Esc closes them');
	await press(page, 'G');
	same(await cur(page), 'git push', 'G: the last one');
	await press(page, '?');
	ok(await page.isVisible('#keys'), '? shows the keys');
	await press(page, 'Escape');
	ok(!await page.isVisible('#keys'), 'Esc closes them');
	await press(page, '/', 'j', 'k');
	same(await page.inputValue('#q'), 'jk', '/ goes to the search, where letters are letters');
	await press(page, 'Escape', 'Escape');
	await press(page, 'p', 'g', 'j', 'Enter');
	same(await shown(page), '3 of 14 records', 'p, j, Enter: a process by the keyboard');
	await press(page, 'Enter', 'ArrowUp', 'ArrowLeft');
	same((await rows(page, '#tree .row')).length, 1, '← closes a process');
	await press(page, 'ArrowRight');
	same((await rows(page, '#tree .row')).length, 4, '→ opens it');
	await press(page, 'e', 't');
	ok((await rows(page))[0][0] === '+1.000', 't: since the start');
	await press(page, 't');
	ok(/^\d\d:\d\d:\d\d\.\d\d\d$/.test((await rows(page))[0][0]), 't: time of day');
	same(await page.evaluate(() => [...document.querySelectorAll('button, input, dialog, [role=listbox], [role=tree], canvas, pre, aside, section')]
	    .filter((e) => !(e.textContent.trim() && e.matches('button')) && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby') && !e.title)
	    .map((e) => e.outerHTML.slice(0, 80))), [], 'whatever has a role has a name');
};
const copying = async (page) => {
	await press(page, 'c');
	same(await page.evaluate(() => navigator.clipboard.readText()), ALL_LINES, 'c copies the block');
	same(await text(page, '#copy'), 'Copied', 'and the button says so');
	await page.click('#rules tr:has-text("/srv/x3") .cp');
	same(await page.evaluate(() => navigator.clipboard.readText()), SRV_LINES, "a rule's button copies its lines");
	/* As in a browser that has no clipboard for files. */
	await page.evaluate(() => { Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined }); });
	await page.click('#rules tr:has-text("evil.test") .cp');
	await press(page, '/', 'Control+v');
	same(await page.inputValue('#q'), '{ \t"network": { \t\t"allowedDomains": [ \t\t\t"evil.test" \t\t] \t} }', 'copying without a clipboard of its own');
	await press(page, 'Escape', 'Escape');
};

/* Lightness of what is drawn, as WCAG has it. */
const contrasts = (page) => page.evaluate(() => {
	const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
	const rgb = (c, under) => {
		canvas.fillStyle = under;
		canvas.fillRect(0, 0, 1, 1);
		canvas.fillStyle = c;
		canvas.fillRect(0, 0, 1, 1);
		return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
	};
	const light = (c) => c.map((v) => v / 255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
	    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
	const bad = [];
	for (const e of document.querySelectorAll('#app *')) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.offsetParent || e.closest('.none, .zero, :disabled'))
			continue;
		const under = [];
		for (let at = e; at; at = at.parentElement)
			under.unshift(getComputedStyle(at).backgroundColor);
		let back = 'rgb(255, 255, 255)';
		for (const c of under)
			back = 'rgb(' + rgb(c, back).join() + ')';
		const [a, b] = [light(rgb(getComputedStyle(e).color, back)), light(rgb(back, back))].sort((p, q) => q - p);
		if ((a + .05) / (b + .05) < 4.5)
			bad.push(e.className + ' ' + e.textContent.slice(0, 20) + ' ' + ((a + .05) / (b + .05)).toFixed(2));
	}
	return [...new Set(bad)];
});
const ground = (page) => page.$eval('body', (e) => getComputedStyle(e).backgroundColor);
const colours = async (page) => {
	await page.emulateMedia({ colorScheme: 'light' });
	const light = await ground(page);
	same(await contrasts(page), [], 'light: text stands out');
	await page.emulateMedia({ colorScheme: 'dark' });
	const dark = await ground(page);
	ok(light !== dark, 'the system says light or dark');
	same(await contrasts(page), [], 'dark: text stands out');
	await press(page, 'd');
	same(await ground(page), light, 'd: light all the same');
	await press(page, 'd', 'd');
	same(await ground(page), dark, 'd: dark, and as the system has it');
};

/* ---- names that are no names ---- */
const names = async (page) => {
	await tile(page, 'in all');
	same(await page.evaluate(() => [...new Set([...document.querySelectorAll('body *')].map((e) => e.localName))]
	    .filter((n) => /^(img|svg|b|iframe|object|embed|link|meta|base|form|style)$/.test(n)).sort()), ['b', 'form'], 'no element is made of a name');
	same(await page.$$eval('b', (all) => all.filter((e) => e.textContent === 'bold').length), 0, 'nor a bold word');
	const seen = await page.evaluate(() => document.body.innerText);
	ok(seen.includes('</script><img src=x'), 'markup is text');
	ok(seen.includes('\\u202ecod.exe') && seen.includes('zero\\u200bwidth\\u2060') && seen.includes('\\x1b[31mred\\x07'),
	    'what would hide is shown');
	const all = await page.evaluate(() => document.documentElement.outerHTML);
	ok(!/[\u202a-\u202e\u2066-\u2069\u200b\u2060\u2028\u2029\ufeff\x00-\x08\x0b-\x1f]/.test(all), 'and is nowhere in the document, tool tips too');
	same(all.match(/k{1000}/g).length, (await text(page, '#block')).match(/k{1000}/g).length, 'a long name is cut, but in the policy lines');
	await page.click('#list .row:has-text("kkkk")');
	ok((await text(page, '#det')).includes('Show all 4,099 characters'), 'its details say how long it is');
	await page.click('#det dd:first-of-type button:has-text("Show all")');
	ok(/\/x\/k{4096}/.test(await text(page, '#det')), 'and show it');
	await page.click('#det summary');
	await frame(page);
	ok((await text(page, '#det pre')).includes('"class_uid": 1001'), 'the record as it came');
	same(await page.evaluate(() => ({}).polluted), undefined, 'no prototype is changed');
	const told = await text(page, '#notices');
	for (const [what, re] of [['drops', /312 records were dropped/], ['holes', /22 numbers of the sequence/],
	    ['lines that are none', /2 lines of the file are no records \(line \d+ is the first\)/], ['a cut file', /ends within a line/],
	    ['no end', /No end recorded/], ['findings', /a notice/], ['hostile findings', /<\/script><img src=x onerror=alert\(1\)>: \\u202ecod\.exe/]])
		ok(re.test(told), 'said: ' + what);
	const lines = await text(page, '#block');
	ok(lines.includes('"\\u202ecod.exe"') && lines.includes('// filesystem.allowRead: a name that is not UTF-8'), 'policy lines are escaped, or not offered');
	ok(JSON.parse(lines.replace(/^\/\/.*\n/gm, '')).filesystem.allowRead.includes('\x1b[31mred\x07\r\n[fence] forged'), 'and mean the name');
};

/* ---- 100,000 records ---- */
/* How often does another task find that blocks were read since its last turn? */
const counting = () => {
	let last = 0;
	window.turns = 0;
	const look = () => {
		const left = document.querySelectorAll('script[type="application/json"]').length;
		if (left < last)
			window.turns++;
		last = left;
		if (!document.documentElement || !document.documentElement.dataset.done)
			setTimeout(look, 0);
	};
	look();
};
const crowd = async (page) => {
	const turns = await page.evaluate(() => window.turns);
	const blocks = fs.readFileSync(many, 'latin1').split('<script type="application/json">').length - 1;
	ok(blocks > 50 && turns > blocks / 4, 'others had their turn while records were read: ' + turns + ' times in ' + blocks + ' blocks');
	same(await shown(page), '100,000 of 100,002 records', 'all are there');
	ok(await nodes(page) < MOST_NODES, 'few elements: ' + await nodes(page));
	await press(page, 'G');
	await frame(page);
	ok((await cur(page)).endsWith('file-' + (N - 1) + '.js'), 'the last one is at hand');
	ok(await nodes(page) < MOST_NODES, 'few elements at the end: ' + await nodes(page));
	await page.$eval('#list', (e) => { e.scrollTop = e.scrollHeight / 2; });
	await frame(page);
	const middle = (await whats(page)).map((w) => Number(/file-(\d+)/.exec(w)[1]));
	ok(middle.length > 5 && middle.every((n) => n > N * .49 && n < N * .51), 'scrolled to the middle: record ' + middle[0]);
	ok(await nodes(page) < MOST_NODES, 'few elements in the middle');
	await page.fill('#q', 'file-777');
	await page.waitForFunction(() => document.querySelectorAll('#list .row').length > 0 && /^\d{1,4} of/.test(document.querySelector('#shown').textContent));
	same(await shown(page), '111 of 100,002 records', 'search');
	await press(page, 'Escape', 'Escape', 'o');
	await page.waitForFunction(() => document.querySelectorAll('#objs .row').length > 5);
	ok(await nodes(page) < MOST_NODES, '100,000 objects: ' + await nodes(page) + ' elements');
	await press(page, 'p', 'G');
	await frame(page);
	ok((await rows(page, '#tree .row')).some((r) => r[1] === 'node ' + (1000 + Math.floor((N - 1) / 7))), 'the last of 14,286 processes');
	ok(await nodes(page) < MOST_NODES, 'and its tree: ' + await nodes(page) + ' elements');
	ok(/99,000 more entries are not listed/.test(await text(page, '#block')), 'of so many policy lines some, and a word');
};

/* ---- the walls of the page itself ---- */
const walls = async (page) => {
	same(await page.evaluate(() => fetch('http://198.51.100.1/').then(() => 'fetched', () => 'refused')), 'refused', 'the page cannot fetch');
	same(await page.evaluate(() => new Promise((done) => {
		const i = new Image();
		i.onload = i.onerror = (e) => done(e.type);
		i.src = 'http://198.51.100.1/x.png';
	})), 'error', 'nor load a picture');
	same(await page.evaluate(() => { try { document.body.insertAdjacentHTML('beforeend', '<i id=made></i>'); } catch (e) { return e.name; } return 'made'; }),
	    'TypeError', 'nor make markup of text');
	same(await page.evaluate(() => {
		const s = document.createElement('script');
		try { s.textContent = 'window.ran = 1'; document.body.append(s); } catch (e) { }
		return window.ran;
	}), undefined, 'nor run a script that came later');
	same(asked, [], 'and nothing of it left the browser');
	errors = [];
	/* The twin: what counts requests sees one where it is permitted. */
	const other = await page.context().newPage();
	await other.setContent('<img src="http://198.51.100.1/x.png">');
	await other.waitForTimeout(0);
	await other.waitForFunction(() => document.images[0].complete);
	same(asked, ['http://198.51.100.1/x.png'], 'a page without these walls is seen to ask');
	asked = [];
	await other.close();
};

(async () => {
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: '/usr/bin/chromium', headless: true, viewport: { width: 1360, height: 850 },
		args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
		    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
	});
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	await context.route('**/*', (route) => {
		const url = route.request().url();
		if (url.startsWith('file:') && route.request().isNavigationRequest())
			return route.continue();
		asked.push(url);
		return route.abort();
	});
	let page = await open(context, known);
	for (const part of [seesAll, filters, timeline, keyboard, copying, colours])
		await part(page);
	quiet('known records');
	await walls(page);
	await page.close();

	page = await open(context, hostile);
	await names(page);
	same(await contrasts(page), [], 'hostile names: text stands out');
	quiet('hostile names');
	await page.close();

	page = await open(context, real);
	fs.writeFileSync(copied, await text(page, '#block'));
	ok(await page.$$eval('#rules tbody tr .num', (all) => all.length > 1), 'a real trace has rules');
	quiet('a real trace');
	await page.close();

	await context.addInitScript(counting);
	page = await open(context, many);
	await crowd(page);
	quiet('100,000 records');
	await context.close();
})().catch((e) => {
	ok(false, 'the browser was driven to the end');
	note(e.stack);
	process.exit(1);
});
