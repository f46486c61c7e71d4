// goclient URL fetches without a proxy, whatever the environment says, and
// without libc.  FENCE_TEST_CA names a PEM file of roots for TLS.
// goclient -exec COMMAND ARGS... runs a child that no libc started.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
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

func fetch(url string) error {
	pool, err := roots()
	if err != nil {
		return err
	}
	client := &http.Client{
		Timeout: limit,
		Transport: &http.Transport{
			Proxy:           nil,
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
	case len(os.Args) == 2:
		err = fetch(os.Args[1])
	default:
		fmt.Fprintln(os.Stderr, "usage: goclient URL | -exec COMMAND ...")
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
