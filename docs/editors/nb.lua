return {
  cmd = { 'nb-lsp-server' },
  filetypes = { 'mlir' },
  root_markers = { '.git' },
}
