// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools names what go.mod is for.
package tools

import _ "github.com/helm-unittest/helm-unittest/cmd/helm-unittest"
