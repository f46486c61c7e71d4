// h2.js SOCKET PEM: an HTTP/2 server, and nothing but HTTP/2, at a unix
// socket.  It answers with the protocol and the name it was asked for.
const fs = require('fs');
const http2 = require('http2');
const pem = fs.readFileSync(process.argv[3]);
http2.createSecureServer({ key: pem, cert: pem, allowHTTP1: false },
    (req, res) => res.end(`h${req.httpVersion} ${req.authority}\n`))
    .listen(process.argv[2]);
