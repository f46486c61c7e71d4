// goclient URL fetches without a proxy, whatever the environment says, and
// without libc.  FENCE_TEST_CA names a PEM file of roots for TLS.
// goclient -env URL the same as the environment's proxy variables say.
// goclient -dial HOST:PORT sends a line to an echo server.
// goclient -exec COMMAND ARGS... runs a child that no libc started.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"
)

const limit = 5 * time.Second

func roots() (*x509.CertPool, error) {
	name := os.Getenv("FENCE_TEST_CA")
	if name == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate", name)
	}
	return pool, nil
}

type proxy func(*http.Request) (*url.URL, error)

func fetch(url string, via proxy) error {
	pool, err := roots()
	if err != nil {
		return err
	}
	client := &http.Client{
		Timeout: limit,
		Transport: &http.Transport{
			Proxy:           via,
			TLSClientConfig: &tls.Config{RootCAs: pool},
		},
	}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	if resp.StatusCode/100 != 2 {
		return errors.New(resp.Status)
	}
	return nil
}

func dial(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, limit)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(limit))
	fmt.Fprintf(conn, "hello %s\n", addr)
	line, err := bufio.NewReader(conn).ReadString('\n')
	fmt.Print(line)
	return err
}

func run(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

func main() {
	var err error
	switch {
	case len(os.Args) > 2 && (os.Args[1] == "-exec" || os.Args[1] == "exec"):
		err = run(os.Args[2:])
	case len(os.Args) == 3 && os.Args[1] == "-env":
		err = fetch(os.Args[2], http.ProxyFromEnvironment)
	case len(os.Args) == 3 && os.Args[1] == "-dial":
		err = dial(os.Args[2])
	case len(os.Args) == 2:
		err = fetch(os.Args[1], nil)
	default:
		fmt.Fprintln(os.Stderr, "usage: goclient [-env] URL | "+
			"-dial HOST:PORT | -exec COMMAND ...")
		os.Exit(2)
	}
	var child *exec.ExitError
	if errors.As(err, &child) {
		os.Exit(child.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "goclient:", err)
		os.Exit(1)
	}
}
