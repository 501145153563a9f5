/** The parser of sucrase without its transformers. The package keeps the types of its files elsewhere than the files. */
declare module 'sucrase/dist/parser/index.js' {
  export { parse } from 'sucrase/dist/types/parser/index.js'
}

declare module 'sucrase/dist/parser/tokenizer/index.js' {
  export { IdentifierRole, type Token } from 'sucrase/dist/types/parser/tokenizer/index.js'
}

declare module 'sucrase/dist/parser/tokenizer/keywords.js' {
  export { ContextualKeyword } from 'sucrase/dist/types/parser/tokenizer/keywords.js'
}

declare module 'sucrase/dist/parser/tokenizer/types.js' {
  export { TokenType } from 'sucrase/dist/types/parser/tokenizer/types.js'
}
