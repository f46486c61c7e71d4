// h2.js ORIGIN DIR: node's http2 module; DIR/ca.pem is whom it trusts.
const fs = require('fs');
const [origin, dir] = process.argv.slice(2);
const session = require('http2').connect(origin,
	{ ca: fs.readFileSync(`${dir}/ca.pem`) });
const fail = (e) => {
	console.error(e.message);
	process.exit(1);
};
session.on('error', fail);
const stream = session.request({ ':path': '/' });
stream.on('error', fail);
stream.on('data', (data) => process.stdout.write(data));
stream.on('end', () => session.close());
