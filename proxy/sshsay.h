/*
 * sshsay: the words of a refusal as an ssh server says them: its version, then
 * SSH_MSG_DISCONNECT (RFC 4253, section 11.1), which clients print.
 */
#ifndef FENCE_PROXY_SSHSAY_H
#define FENCE_PROXY_SSHSAY_H

#include <stddef.h>
#include <stdint.h>

enum { SSHSAY_PORT = 22, SSHSAY_MAX = 512 };

/* How many bytes were written; a text that does not fit is cut. */
size_t	 sshsay_refusal(uint8_t buf[SSHSAY_MAX], const char *text);

#endif
