package main

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"rsc.io/quote"
)

func main() {
	cmd := &cobra.Command{Use: "modules", Run: func(*cobra.Command, []string) {
		fmt.Println(len(uuid.NewString()), quote.Go())
	}}
	cmd.Execute()
}
