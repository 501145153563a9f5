/**
 * Names of Swift 5, as Swift's document on mangling (`docs/ABI/Mangling.rst`) describes them: operators behind their
 * operands, so that a stack holds what was read. The result has names and labels, not types:
 * `App.Cart.add(item:count:)`. Thunks, specialisations and parts of async functions have the name of their function.
 * Operators that are not read here end the reading.
 */
type Kind = 'name' | 'module' | 'type' | 'entity' | 'empty' | 'first' | 'mark' | 'signature' | 'requirement'

type Node = {
  readonly kind: Kind
  readonly text: string
  /** The number of parameters of a type of functions, of elements of a tuple. */
  readonly count?: number
  /** A function, in which other declarations can be. */
  readonly isFunction?: boolean
}

/** Standard types by the letter behind `S`, and those of concurrency behind `Sc`. */
const STANDARD: Record<string, string> = {
  A: 'AutoreleasingUnsafeMutablePointer',
  a: 'Array',
  b: 'Bool',
  D: 'Dictionary',
  d: 'Double',
  f: 'Float',
  h: 'Set',
  I: 'DefaultIndices',
  i: 'Int',
  J: 'Character',
  N: 'ClosedRange',
  n: 'Range',
  O: 'ObjectIdentifier',
  P: 'UnsafePointer',
  p: 'UnsafeMutablePointer',
  R: 'UnsafeBufferPointer',
  r: 'UnsafeMutableBufferPointer',
  S: 'String',
  s: 'Substring',
  u: 'UInt',
  V: 'UnsafeRawPointer',
  v: 'UnsafeMutableRawPointer',
  W: 'UnsafeRawBufferPointer',
  w: 'UnsafeMutableRawBufferPointer',
  q: 'Optional',
  B: 'BinaryFloatingPoint',
  E: 'Encodable',
  e: 'Decodable',
  F: 'FloatingPoint',
  G: 'RandomNumberGenerator',
  H: 'Hashable',
  j: 'Numeric',
  K: 'BidirectionalCollection',
  k: 'RandomAccessCollection',
  L: 'Comparable',
  l: 'Collection',
  M: 'MutableCollection',
  m: 'RangeReplaceableCollection',
  Q: 'Equatable',
  T: 'Sequence',
  t: 'IteratorProtocol',
  U: 'UnsignedInteger',
  X: 'RangeExpression',
  x: 'Strideable',
  Y: 'RawRepresentable',
  y: 'StringProtocol',
  Z: 'SignedInteger',
  z: 'BinaryInteger',
}
const CONCURRENCY: Record<string, string> = {
  A: 'Actor',
  C: 'CheckedContinuation',
  c: 'UnsafeContinuation',
  E: 'CancellationError',
  e: 'UnownedSerialExecutor',
  F: 'Executor',
  f: 'SerialExecutor',
  G: 'TaskGroup',
  g: 'ThrowingTaskGroup',
  I: 'AsyncIteratorProtocol',
  i: 'AsyncSequence',
  J: 'UnownedJob',
  M: 'MainActor',
  P: 'TaskPriority',
  S: 'AsyncStream',
  s: 'AsyncThrowingStream',
  T: 'Task',
  t: 'UnsafeCurrentTask',
}
const ACCESSORS: Record<string, string> = {
  g: 'getter',
  s: 'setter',
  w: 'willset',
  W: 'didset',
  r: 'read',
  M: 'modify',
  G: 'getter',
  m: 'materializeForSet',
  i: 'init',
  x: 'modify',
  y: 'read',
}
const OPERATORS: Record<string, string> = {
  a: '&',
  c: '@',
  d: '/',
  e: '=',
  g: '>',
  l: '<',
  m: '*',
  n: '!',
  o: '|',
  p: '+',
  q: '?',
  r: '%',
  s: '-',
  t: '~',
  x: '^',
  z: '.',
}

const MAX_NODES = 10_000
const MAX_TEXT = 16 * 1024

class Unreadable extends Error {}

export const isSwiftName = (raw: string): boolean => /^_{0,2}\$[sSe]/.test(raw)

/** @returns the readable form of a name for which `isSwiftName` holds, or undefined */
export function demangleSwift(raw: string): string | undefined {
  try {
    return new SwiftReader(raw.replace(/^_*\$[sSe]/, '')).read()
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

class SwiftReader {
  readonly #text: string
  #at = 0
  #made = 0
  readonly #stack: Node[] = []
  readonly #substitutions: Node[] = []
  readonly #words: string[] = []

  constructor(text: string) {
    this.#text = text
  }

  read(): string {
    while (this.#at < this.#text.length) {
      // The compiler's passes write suffixes such as `.resume.0`.
      if (this.#text[this.#at] === '.') break
      const node = this.#operator()
      if (node !== undefined) this.#push(node)
    }
    const [only] = this.#stack
    if (only?.kind !== 'entity' || this.#stack.length !== 1) throw new Unreadable()
    return only.text
  }

  #push(node: Node): void {
    // Substitutions may double a text again and again.
    if (this.#made++ > MAX_NODES || node.text.length > MAX_TEXT) throw new Unreadable()
    this.#stack.push(node)
  }

  #next(): string {
    const letter = this.#text[this.#at++]
    if (letter === undefined) throw new Unreadable()
    return letter
  }

  #nextIf(letter: string): boolean {
    if (this.#text[this.#at] !== letter) return false
    this.#at++
    return true
  }

  #popIf(...kinds: Kind[]): Node | undefined {
    const top = this.#stack.at(-1)
    return top !== undefined && kinds.includes(top.kind) ? this.#stack.pop() : undefined
  }

  #pop(...kinds: Kind[]): Node {
    const node = this.#popIf(...kinds)
    if (node === undefined) throw new Unreadable()
    return node
  }

  #substitute(node: Node): Node {
    this.#substitutions.push(node)
    return node
  }

  #natural(): number | undefined {
    let digits = ''
    while (/\d/.test(this.#text[this.#at] ?? '') && digits.length < 8) digits += this.#next()
    return digits === '' ? undefined : Number(digits)
  }

  /** `_` is 0, `0_` is 1 and so on. */
  #index(): number {
    if (this.#nextIf('_')) return 0
    const number = this.#natural()
    if (number === undefined || !this.#nextIf('_')) throw new Unreadable()
    return number + 1
  }

  #operator(): Node | undefined {
    const letter = this.#next()
    switch (letter) {
      case 'A':
        return this.#multiple()
      case 'S':
        return this.#standard()
      case 'B':
        return this.#builtin()
      case 'C':
      case 'O':
      case 'P':
      case 'V':
      case 'a':
        return this.#nominal()
      case 'E':
        this.#popIf('signature')
        this.#pop('name', 'module')
        return { kind: 'entity', text: this.#pop('type').text }
      case 'F': {
        this.#popIf('signature')
        const type = this.#functionType()
        return this.#declaration(this.#labels(type), true)
      }
      case 'f':
        return this.#functionEntity()
      case 'G':
        return this.#boundGeneric()
      case 'K':
        return { kind: 'mark', text: '' }
      case 'L':
        return this.#local()
      case 'Q':
        return this.#archetype()
      case 'R':
        return this.#requirement()
      case 'T':
        return this.#thunk()
      case 'X':
        return this.#specialType()
      case 'Y':
        if (this.#nextIf('c')) this.#pop('type')
        else if (!/[abjTAuK]/.test(this.#next())) throw new Unreadable()
        return { kind: 'mark', text: '' }
      case 'Z':
        return this.#pop('entity')
      case 'c':
        return this.#functionType()
      case 'd':
        return { kind: 'mark', text: '' }
      case 'h':
      case 'n':
      case 'z':
        return this.#pop('type')
      case 'i': {
        this.#popIf('name')
        const type = this.#pop('type')
        const labels = this.#labels(type)
        return this.#accessor(`${this.#context()}subscript${labels}`)
      }
      case 'l':
        return this.#signature()
      case 'm':
        return { kind: 'type', text: `${this.#pop('type').text}.Type` }
      case 'o':
        return this.#operatorName()
      case 'p':
        return this.#protocolList()
      case 'q':
        return this.#genericParameter()
      case 'r':
        while (!this.#nextIf('l')) if (!this.#nextIf('z')) this.#index()
        return this.#signature()
      case 's':
        return { kind: 'module', text: 'Swift' }
      case 't':
        return this.#tuple()
      case 'u':
        this.#pop('signature')
        return this.#pop('type')
      case 'v': {
        this.#pop('type')
        const name = this.#pop('name')
        return this.#accessor(`${this.#context()}${name.text}`)
      }
      case 'x':
        return { kind: 'type', text: 'A' }
      case 'y':
        return { kind: 'empty', text: '' }
      case '_':
        return { kind: 'first', text: '' }
      default:
        if (!/\d/.test(letter)) throw new Unreadable()
        this.#at--
        return this.#identifier()
    }
  }

  #identifier(): Node {
    let substitutes = this.#nextIf('0')
    // Names with letters other than ASCII are in Punycode.
    if (substitutes && this.#text[this.#at] === '0') throw new Unreadable()
    let text = ''
    do {
      for (let letter = this.#text[this.#at] ?? ''; substitutes && /[A-Za-z]/.test(letter);) {
        this.#at++
        substitutes = letter >= 'a'
        const word = this.#words[letter.toLowerCase().charCodeAt(0) - 97]
        if (word === undefined) throw new Unreadable()
        text += word
        letter = this.#text[this.#at] ?? ''
      }
      if (this.#nextIf('0')) break
      const length = this.#natural()
      if (length === undefined || length === 0 || this.#at + length > this.#text.length) throw new Unreadable()
      const piece = this.#text.slice(this.#at, this.#at + length)
      this.#at += length
      text += piece
      this.#collectWords(piece)
    } while (substitutes)
    return this.#substitute({ kind: 'name', text })
  }

  /** Words begin with any letter and end before `_` or an upper-case letter behind a lower-case one. */
  #collectWords(piece: string): void {
    let start = -1
    for (let at = 0; at <= piece.length; at++) {
      const letter = piece[at] ?? '_'
      const isUpper = /[A-Z]/.test(letter)
      const ends = letter === '_' || (isUpper && !/[A-Z]/.test(piece[at - 1] ?? ''))
      if (start >= 0 && ends) {
        if (at - start >= 2 && this.#words.length < 26) this.#words.push(piece.slice(start, at))
        start = -1
      }
      if (start < 0 && letter !== '_' && !/\d/.test(letter)) start = at
    }
  }

  #operatorName(): Node {
    const name = this.#identifierText().replaceAll(/[a-z]/g, (letter) => OPERATORS[letter] ?? letter)
    if (!/[pPi]/.test(this.#next())) throw new Unreadable()
    return { kind: 'name', text: name }
  }

  #identifierText(): string {
    return this.#identifier().text
  }

  /** `A`: substitutions, several of which follow each other as lower-case letters and a last upper-case one. */
  #multiple(): undefined {
    let repeat: number | undefined
    for (;;) {
      const letter = this.#next()
      if (/[A-Za-z]/.test(letter)) {
        const node = this.#substitutions[letter.toLowerCase().charCodeAt(0) - 97]
        if (node === undefined) throw new Unreadable()
        for (let left = Math.min(repeat ?? 1, MAX_NODES); left > 0; left--) this.#push(node)
        if (letter <= 'Z') return undefined
        repeat = undefined
      } else if (letter === '_') {
        const node = this.#substitutions[(repeat ?? -1) + 27]
        if (node === undefined) throw new Unreadable()
        this.#push(node)
        return undefined
      } else {
        this.#at--
        repeat = this.#natural()
        if (repeat === undefined) throw new Unreadable()
      }
    }
  }

  #standard(): Node | undefined {
    if (this.#nextIf('o')) return { kind: 'module', text: '' }
    if (this.#nextIf('C')) return { kind: 'module', text: '' }
    if (this.#nextIf('g')) return this.#substitute({ kind: 'type', text: `${this.#pop('type').text}?` })
    const repeat = this.#natural() ?? 1
    const name = this.#nextIf('c') ? CONCURRENCY[this.#next()] : STANDARD[this.#next()]
    if (name === undefined) throw new Unreadable()
    for (let left = Math.min(repeat, MAX_NODES); left > 0; left--) this.#push({ kind: 'type', text: name })
    return undefined
  }

  #builtin(): Node {
    const letter = this.#next()
    if (/[ifv]/.test(letter)) {
      if (letter === 'v') this.#pop('type')
      this.#index()
    } else if (!/[BbcDdeIjKOopPtwA]/.test(letter)) throw new Unreadable()
    return { kind: 'type', text: 'Builtin' }
  }

  /** @returns the text before a name: `Module.`, `Module.Type.` */
  #context(): string {
    const context = this.#pop('name', 'module', 'type', 'entity')
    return context.text === '' ? '' : `${context.text.replace(/<.*>$/s, '')}.`
  }

  /** Pops the name and context of a declaration. */
  #declaration(labels: string, isFunction: boolean): Node {
    const name = this.#pop('name')
    const context = this.#stack.at(-1)
    if (context?.isFunction === true) {
      this.#stack.pop()
      return { kind: 'entity', text: `${name.text}${labels} in ${context.text}`, isFunction }
    }
    return { kind: 'entity', text: `${this.#context()}${name.text}${labels}`, isFunction }
  }

  #nominal(): Node {
    return this.#substitute({ kind: 'type', text: this.#declaration('', false).text })
  }

  /** Result, parameters, then what marks it as async or throwing. */
  #functionType(): Node {
    while (this.#popIf('mark') !== undefined);
    const parameters = this.#pop('empty', 'type')
    this.#pop('empty', 'type')
    const count = parameters.kind === 'empty' ? 0 : (parameters.count ?? 1)
    return { kind: 'type', text: '() -> ()', count }
  }

  /** A label, or `_`, for each parameter; `y` where none has one. */
  #labels(type: Node): string {
    const count = type.count ?? 0
    if (this.#popIf('empty') !== undefined) return `(${'_:'.repeat(count)})`
    const labels: string[] = []
    for (let left = count; left > 0; left--) {
      const label = this.#pop('name', 'first')
      labels.unshift(label.kind === 'first' ? '_:' : `${label.text}:`)
    }
    return `(${labels.join('')})`
  }

  #tuple(): Node {
    let count = 0
    if (this.#popIf('empty') === undefined) {
      for (let isFirst = false; !isFirst; count++) {
        isFirst = this.#popIf('first') !== undefined
        this.#popIf('mark')
        this.#popIf('name')
        this.#pop('type')
      }
    }
    return { kind: 'type', text: '(…)', count }
  }

  #boundGeneric(): Node {
    let lists = 0
    const own: string[] = []
    for (;;) {
      for (let type = this.#popIf('type'); type !== undefined; type = this.#popIf('type')) {
        if (lists === 0) own.unshift(type.text)
      }
      lists++
      if (this.#popIf('empty') !== undefined) break
      this.#pop('first')
    }
    const type = this.#pop('type')
    return this.#substitute({ kind: 'type', text: own.length === 0 ? type.text : `${type.text}<${own.join(', ')}>` })
  }

  /** `LL`: private, with a discriminator of its file. Else the number of a local declaration. */
  #local(): Node {
    if (this.#nextIf('L')) this.#pop('name')
    else if (/[a-j]/.test(this.#text[this.#at] ?? '')) throw new Unreadable()
    else this.#index()
    return this.#pop('name')
  }

  #genericParameter(): Node {
    if (this.#nextIf('d')) {
      const depth = this.#index() + 1
      return { kind: 'type', text: `${letterOf(this.#index())}${depth}` }
    }
    return { kind: 'type', text: this.#nextIf('z') ? 'A' : letterOf(this.#index() + 1) }
  }

  #associatedName(): string {
    // A protocol may follow the name.
    this.#popIf('type')
    return this.#pop('name').text
  }

  #associated(base: Node | undefined, isCompound: boolean): Node {
    const names: string[] = []
    for (let isFirst = false; !isFirst;) {
      isFirst = !isCompound || this.#popIf('first') !== undefined
      names.unshift(this.#associatedName())
    }
    const { text } = base ?? this.#pop('type')
    return this.#substitute({ kind: 'type', text: [text, ...names].join('.') })
  }

  #archetype(): Node {
    const first: Node = { kind: 'type', text: 'A' }
    switch (this.#next()) {
      case 'x':
        return this.#associated(undefined, false)
      case 'X':
        return this.#associated(undefined, true)
      case 'y':
        return this.#associated(this.#genericParameter(), false)
      case 'Y':
        return this.#associated(this.#genericParameter(), true)
      case 'z':
        return this.#associated(first, false)
      case 'Z':
        return this.#associated(first, true)
      case 'r':
        return { kind: 'type', text: 'some' }
      default:
        throw new Unreadable()
    }
  }

  #protocol(): void {
    if (this.#popIf('type') !== undefined) return
    this.#pop('name')
    this.#context()
  }

  #protocolList(): Node {
    if (this.#popIf('empty') === undefined) {
      for (let isFirst = false; !isFirst;) {
        isFirst = this.#popIf('first') !== undefined
        this.#protocol()
      }
    }
    return { kind: 'type', text: 'any' }
  }

  #requirement(): Node {
    const letter = this.#next()
    const kind = /[cCbBtTsSmMlLpPQ]/.test(letter) ? letter : ''
    if (kind === '') this.#at--
    if (/[ctmp]/.test(kind)) this.#associated(this.#genericParameter(), false)
    else if (/[CTMP]/.test(kind)) this.#associated(this.#genericParameter(), true)
    else if (/[BSLQ]/.test(kind)) this.#pop('type')
    else this.#genericParameter()
    if (/[mMlL]/.test(kind)) {
      if (!/[URNCDT]/.test(this.#next())) throw new Unreadable()
    } else if (/[cCbBtTsS]/.test(kind)) this.#pop('type')
    else this.#protocol()
    return { kind: 'requirement', text: '' }
  }

  #signature(): Node {
    while (this.#popIf('requirement') !== undefined);
    return { kind: 'signature', text: '' }
  }

  #specialType(): Node {
    switch (this.#next()) {
      case 'A':
      case 'B':
      case 'C':
      case 'E':
      case 'f':
      case 'K':
      case 'L':
      case 'U':
        return this.#functionType()
      case 'D':
      case 'b':
      case 'o':
      case 'p':
      case 'u':
      case 'w':
        return this.#pop('type')
      case 'M':
      case 'm':
        this.#next()
        return this.#pop('type')
      case 'l':
        return this.#protocolList()
      case 'c':
        this.#pop('type')
        return this.#protocolList()
      default:
        throw new Unreadable()
    }
  }

  #accessor(text: string): Node {
    const letter = this.#next()
    if (letter === 'p') return { kind: 'entity', text }
    if (letter === 'a' || letter === 'l') {
      this.#next()
      return { kind: 'entity', text: `${text}.addressor`, isFunction: true }
    }
    const name = ACCESSORS[letter]
    if (name === undefined) throw new Unreadable()
    return { kind: 'entity', text: `${text}.${name}`, isFunction: true }
  }

  #functionEntity(): Node {
    const letter = this.#next()
    const named = (text: string): Node => ({ kind: 'entity', text, isFunction: true })
    switch (letter) {
      case 'C':
      case 'c': {
        this.#popIf('name')
        const type = this.#pop('type')
        const labels = this.#labels(type)
        return named(`${this.#context()}init${labels}`)
      }
      case 'D':
      case 'd':
        return named(`${this.#context()}deinit`)
      case 'E':
      case 'e':
        return named(`${this.#context()}${letter === 'E' ? 'ivar destroyer' : 'ivar initializer'}`)
      case 'U':
      case 'u': {
        const number = this.#index() + 1
        this.#pop('type')
        const context = this.#context().slice(0, -1)
        return named(`${letter === 'u' ? 'implicit ' : ''}closure #${number} in ${context}`)
      }
      case 'A': {
        const number = this.#index()
        return named(`default argument ${number} of ${this.#context().slice(0, -1)}`)
      }
      case 'i':
        return named(`variable initialization expression of ${this.#context().slice(0, -1)}`)
      case 'P':
      case 'W':
        return named(`property wrapper initializer of ${this.#context().slice(0, -1)}`)
      default:
        throw new Unreadable()
    }
  }

  #thunk(): Node {
    const letter = this.#next()
    switch (letter) {
      case 'A':
      case 'D':
      case 'E':
      case 'O':
      case 'a':
      case 'd':
      case 'j':
      case 'm':
      case 'o':
      case 'u':
        return this.#pop('entity')
      // Parts of an async function.
      case 'Q':
      case 'Y':
        this.#index()
        return this.#pop('entity')
      case 'W': {
        const entity = this.#pop('entity')
        this.#popIf('signature')
        this.#pop('name', 'module')
        this.#protocol()
        return {
          kind: 'entity',
          text: `protocol witness for ${entity.text} in ${this.#pop('type').text}`,
          isFunction: true,
        }
      }
      case 'G':
      case 'g':
      case 'B':
      case 'i':
        this.#next()
        for (let isFirst = this.#popIf('empty') !== undefined; !isFirst;) {
          isFirst = this.#popIf('first') !== undefined
          this.#pop('type')
        }
        return this.#pop('entity')
      default:
        throw new Unreadable()
    }
  }
}

/** A, B, … for generic parameters. */
const letterOf = (index: number): string => String.fromCharCode(65 + (index % 26))
