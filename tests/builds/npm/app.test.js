// Eight connections of its own to a server of its own, under a test runner
// that starts workers.
const express = require('express');

test('express answers on localhost', async () => {
  const app = express();
  app.get('/', (req, res) => res.send('hello'));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const all = await Promise.all(Array.from({ length: 8 },
    () => fetch(url).then((r) => r.text())));
  expect(new Set(all)).toEqual(new Set(['hello']));
  await new Promise((done) => server.close(done));
});
