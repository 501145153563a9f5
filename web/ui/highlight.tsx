import { Fragment } from 'react'

/**
 * Colours for a few lines of source in any curly or indented language: strings, numbers, keywords, names that are
 * called, comments. No grammar: a wrong guess costs a colour, never a character.
 */

type Kind = 'ck' | 'cs' | 'cnum' | 'cn' | 'cc' | null
export type CodePart = { text: string; kind: Kind }

const KEYWORDS = new Set(
  (
    'abstract as async await break case catch class const continue def default defer del do else enum except export ' +
    'extends false final finally fn for foreach from func fun function go guard if implements import in init inline instanceof ' +
    'interface internal is lambda late let match mut namespace new nil none null nullptr object of override package ' +
    'private protected protocol public pub raise repeat required rescue return self sealed static struct super suspend ' +
    'switch template this throw throws trait true try type typealias typeof unless until use using val var virtual void ' +
    'when where while with yield True False None'
  ).split(' '),
)

// In this order: comments, strings, numbers, words, anything else by one character.
const TOKEN =
  /(\/\/.*|\/\*[\s\S]*?\*\/|(?<=^|\s)#(?!\[|[a-fA-F\d]{3,8}\b|include\b|define\b).*)|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?)|(\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\w*)|([\p{L}_$][\p{L}\p{N}_$]*)|([\s\S])/gu

/** Cuts source into coloured parts; their texts joined are the source. */
export function partsOfCode(source: string): CodePart[] {
  const parts: CodePart[] = []
  const add = (text: string, kind: Kind) => {
    const last = parts.at(-1)
    if (last !== undefined && last.kind === kind) last.text += text
    else parts.push({ text, kind })
  }
  for (const match of source.matchAll(TOKEN)) {
    const [text, comment, string, number, word] = match
    if (comment !== undefined) add(text, 'cc')
    else if (string !== undefined) add(text, 'cs')
    else if (number !== undefined) add(text, 'cnum')
    else if (word !== undefined) add(text, kindOfWord(word, source, match.index + text.length))
    else add(text, null)
  }
  return parts
}

function kindOfWord(word: string, source: string, end: number): Kind {
  if (KEYWORDS.has(word)) return 'ck'
  return source[end] === '(' ? 'cn' : null
}

/** Long lines of minified code are shown without colours: they are read by nobody and cost frames. */
const LONGEST = 2000

export function Code({ source }: { source: string }) {
  if (source.length > LONGEST) return source
  return partsOfCode(source).map((part, index) => (
    // Parts of one source never change places.
    <Fragment key={`${index} ${part.kind}`}>
      {part.kind === null ? part.text : <span className={part.kind}>{part.text}</span>}
    </Fragment>
  ))
}
