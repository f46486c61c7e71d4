// http.js URL: node's http module.
require('http').get(process.argv[2], (res) => {
	res.on('data', (data) => process.stdout.write(data));
	if (res.statusCode !== 200)
		process.exitCode = 1;
}).on('error', (e) => {
	console.error(e.message);
	process.exitCode = 1;
});
