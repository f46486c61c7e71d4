#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/sha256.h"

/* FIPS 180-4 and NIST's example and short-message vectors. */
static const struct {
	const char	*text;
	size_t		 times;
	const char	*hex;
} vectors[] = {
	{ "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b"
	    "7852b855" },
	{ "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61"
	    "f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd4"
	    "19db06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
	    "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", 1,
	    "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac4503"
	    "7afee9d1" },
	{ "a", 1000000,
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39cc"
	    "c7112cd0" },
	/* Around the edge where the length no longer fits the block. */
	{ "a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e91"
	    "0f734318" },
	{ "a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef797068"
	    "6ec6738a" },
	{ "a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df"
	    "154668eb" },
};

static void
test_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		struct sha256 h;
		char hex[SHA256_HEX];

		sha256_init(&h);
		for (size_t k = 0; k < vectors[i].times; k++)
			sha256_add(&h, vectors[i].text,
			    strlen(vectors[i].text));
		sha256_end_hex(&h, hex);
		assert_string_equal(hex, vectors[i].hex);
	}
}

/* However the bytes are cut, the digest is the same. */
static void
test_pieces(void **state)
{
	char data[300], want[SHA256_HEX], hex[SHA256_HEX];
	struct sha256 h;

	(void)state;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)(i * 7 + 3);
	sha256_init(&h);
	sha256_add(&h, data, sizeof data);
	sha256_end_hex(&h, want);
	for (size_t cut = 0; cut <= sizeof data; cut++) {
		sha256_init(&h);
		sha256_add(&h, data, cut);
		sha256_add(&h, data + cut, sizeof data - cut);
		sha256_end_hex(&h, hex);
		assert_string_equal(hex, want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
