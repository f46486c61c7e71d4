#include "platform/base/sha256.h"

#include <stdio.h>
#include <string.h>

/* First 32 bits of the fractional parts of the cube roots of 64 primes. */
static const uint32_t k256[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotr(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void
schedule(uint32_t w[64], const uint8_t *p)
{
	for (size_t t = 0; t < 16; t++, p += 4)
		w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		    (uint32_t)p[2] << 8 | p[3];
	for (size_t t = 16; t < 64; t++) {
		uint32_t a = w[t - 15], b = w[t - 2];

		w[t] = (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10) + w[t - 7] +
		    (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[t - 16];
	}
}

static void
compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], s[8], t1, t2;

	schedule(w, block);
	memcpy(s, state, sizeof s);
	for (size_t t = 0; t < 64; t++) {
		t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^
		    rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
		    k256[t] + w[t];
		t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) +
		    ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof *s);
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += s[i];
}

void
sha256_init(struct sha256 *h)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(h->state, start, sizeof start);
	h->len = 0;
}

void
sha256_add(struct sha256 *h, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t have = h->len % sizeof h->block;

	h->len += len;
	while (len > 0) {
		size_t n = sizeof h->block - have;

		if (n > len)
			n = len;
		memcpy(h->block + have, p, n);
		have += n;
		p += n;
		len -= n;
		if (have == sizeof h->block) {
			compress(h->state, h->block);
			have = 0;
		}
	}
}

static void
sha256_end(struct sha256 *h, uint8_t ret[SHA256_BYTES])
{
	uint8_t tail[8], pad[64] = { 0x80 };
	uint64_t bits = h->len * 8;
	size_t have = h->len % 64;

	for (size_t i = 0; i < 8; i++)
		tail[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(h, pad, have < 56 ? 56 - have : 120 - have);
	sha256_add(h, tail, sizeof tail);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		ret[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void
sha256_end_hex(struct sha256 *h, char ret[SHA256_HEX])
{
	uint8_t raw[SHA256_BYTES];

	sha256_end(h, raw);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(ret + 2 * i, 3, "%02x", raw[i]);
}
