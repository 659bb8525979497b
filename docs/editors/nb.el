(define-derived-mode nb-mode prog-mode "nb"
  "Diffraction programs in MLIR."
  (setq-local comment-start "// ")
  (font-lock-add-keywords nil '(("%[A-Za-z0-9_$.-]+" . font-lock-variable-name-face)
                                ("\\_<[a-z_]+\\.[a-z_.]+" . font-lock-function-name-face)
                                ("![a-z_.]+" . font-lock-type-face))))
(add-to-list 'auto-mode-alist '("\\.mlir\\'" . nb-mode))
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(nb-mode "nb-lsp-server")))
