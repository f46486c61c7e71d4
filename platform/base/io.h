/*
 * io: all of something through a descriptor.  Both calls go on after EINTR
 * and are async-signal-safe.  buf_read() reads into memory that grows.
 */
#ifndef FENCE_BASE_IO_H
#define FENCE_BASE_IO_H

#include <stddef.h>
#include <sys/types.h>

/* 0 if every byte was written, else -1; errno says why. */
int	 io_write_all(int fd, const void *, size_t);
/* Reads to the end, or until size bytes are there; returns how many, or -1. */
ssize_t	 io_read_all(int fd, void *, size_t size);

#endif
