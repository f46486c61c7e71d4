noinst_LIBRARIES += proxy/libproxy.a
proxy_libproxy_a_SOURCES = \
	proxy/ask.c proxy/ask.h \
	proxy/chunked.c proxy/chunked.h \
	proxy/dnsmsg.c proxy/dnsmsg.h \
	proxy/http1.c proxy/http1.h \
	proxy/page.c proxy/page.h \
	proxy/peek.c proxy/peek.h \
	proxy/proxy.c proxy/proxy.h proxy/serve.h \
	proxy/relay.c proxy/relay.h \
	proxy/serve_dns.c \
	proxy/serve_http.c \
	proxy/serve_socks5.c \
	proxy/serve_transparent.c \
	proxy/socks5.c proxy/socks5.h \
	proxy/tlshello.c proxy/tlshello.h \
	proxy/tunnel.c

pkglibexec_PROGRAMS += libexec/fence/fence-net libexec/fence/fence-names

libexec_fence_fence_net_SOURCES = proxy/net_main.c
libexec_fence_fence_net_LDADD = proxy/libproxy.a platform/libplatform.a \
	platform/base/libbase.a

libexec_fence_fence_net_LDFLAGS = $(FAST_LDFLAGS)

libexec_fence_fence_names_SOURCES = proxy/names_main.c
libexec_fence_fence_names_LDADD = proxy/libproxy.a platform/libplatform.a \
	platform/base/libbase.a
