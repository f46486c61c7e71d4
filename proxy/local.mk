noinst_LIBRARIES += proxy/libproxy.a
proxy_libproxy_a_SOURCES = \
	proxy/answer.c proxy/answer.h \
	proxy/ask.c proxy/ask.h \
	proxy/budget.c proxy/budget.h \
	proxy/chunked.c proxy/chunked.h \
	proxy/conn.c proxy/conn.h \
	proxy/dnsmsg.c proxy/dnsmsg.h \
	proxy/exchange.c proxy/exchange.h \
	proxy/http1.c proxy/http1.h \
	proxy/http_forward.c \
	proxy/http_say.c \
	proxy/httpbody.c proxy/httpbody.h \
	proxy/httphead.c proxy/httphead.h \
	proxy/httpresp.c proxy/httpresp.h \
	proxy/outbox.c proxy/outbox.h \
	proxy/page.c proxy/page.h \
	proxy/peek.c proxy/peek.h \
	proxy/proxy.c proxy/proxy.h proxy/serve.h \
	proxy/questions.c proxy/questions.h \
	proxy/relay.c proxy/relay.h \
	proxy/selfpath.c proxy/selfpath.h \
	proxy/serve_dns.c \
	proxy/serve_http.c proxy/serve_http.h \
	proxy/serve_port.c \
	proxy/serve_socks5.c \
	proxy/serve_transparent.c \
	proxy/socks5.c proxy/socks5.h \
	proxy/sshsay.c proxy/sshsay.h \
	proxy/tlshello.c proxy/tlshello.h \
	proxy/tunnel.c \
	proxy/upstream.c proxy/upstream.h

pkglibexec_PROGRAMS += libexec/fence/fence-net libexec/fence/fence-names

libexec_fence_fence_net_SOURCES = proxy/net_main.c
libexec_fence_fence_net_LDADD = proxy/libproxy.a platform/libplatform.a \
	platform/base/libbase.a

libexec_fence_fence_net_LDFLAGS = $(FAST_LDFLAGS)

# Also those of tests/probes/fence-names-hostile.
names_sources = proxy/names_main.c proxy/shake.c proxy/shake.h
libexec_fence_fence_names_SOURCES = $(names_sources)
libexec_fence_fence_names_LDADD = proxy/libproxy.a platform/libplatform.a \
	platform/base/libbase.a
