import { Fragment } from 'react'
import styles from './highlight.module.css'

/**
 * Highlights a few lines of source of any language: strings, numbers, keywords, calls, comments. Without a grammar: a
 * wrong guess changes a colour, never the text.
 */

type Kind = 'keyword' | 'string' | 'number' | 'name' | 'comment' | null
export type CodePart = { text: string; kind: Kind }

const KEYWORDS = new Set(
  (
    'abstract as async await break case catch class const continue def default defer del do else enum except export ' +
    'extends false final finally fn for foreach from func fun function go guard if implements import in init inline instanceof ' +
    'interface internal is lambda late let match mut namespace new nil none null nullptr object of override package ' +
    'private protected protocol public pub raise repeat required rescue return self sealed static struct super suspend ' +
    'switch template this throw throws trait true try type typealias typeof unless until use using val var virtual void ' +
    'when where while with yield True False None ' +
    'SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET AND OR NOT IN IS NULL AS ON JOIN LEFT INNER DISTINCT FILTER OVER ' +
    'PARTITION BETWEEN LIKE ILIKE CASE WHEN THEN ELSE END ASC DESC UNION ALL WITH INTERVAL'
  ).split(' '),
)

// In this order: comments, strings, numbers, words, any other character.
const TOKEN =
  /(\/\/.*|\/\*[\s\S]*?\*\/|(?<=^|\s)#(?!\[|[a-fA-F\d]{3,8}\b|include\b|define\b).*)|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?)|(\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\w*)|([\p{L}_$][\p{L}\p{N}_$]*)|([\s\S])/gu

function makeParts() {
  const parts: CodePart[] = []
  /** Joined with the part before it if both have one colour. */
  const add = (text: string, kind: Kind) => {
    const last = parts.at(-1)
    if (last !== undefined && last.kind === kind) last.text += text
    else parts.push({ text, kind })
  }
  return { parts, add }
}

/** Splits source into coloured parts; their joined texts are the source. */
export function partsOfCode(source: string): CodePart[] {
  const { parts, add } = makeParts()
  for (const match of source.matchAll(TOKEN)) {
    const [text, comment, string, number, word] = match
    if (comment !== undefined) add(text, 'comment')
    else if (string !== undefined) add(text, 'string')
    else if (number !== undefined) add(text, 'number')
    else if (word !== undefined) add(text, kindOfWord(word, source, match.index + text.length))
    else add(text, null)
  }
  return parts
}

function kindOfWord(word: string, source: string, end: number): Kind {
  if (KEYWORDS.has(word)) return 'keyword'
  return source[end] === '(' ? 'name' : null
}

/** Longer lines are minified code and slow to render; they are not highlighted. */
const MAX_LENGTH = 2000

export function Code({ source }: { source: string }) {
  if (source.length > MAX_LENGTH) return source
  return <Parts parts={partsOfCode(source)} />
}

const JSON_TOKEN = /("(?:\\.|[^"\\])*")(?=(\s*:)?)|(-?\d[\d.eE+-]*)|(true|false|null)|([\s\S])/gu

/** Splits JSON into coloured parts, names apart from values; their joined texts are the source. */
export function partsOfJson(source: string): CodePart[] {
  const { parts, add } = makeParts()
  for (const [text, string, colon, number, word] of source.matchAll(JSON_TOKEN)) {
    if (string !== undefined) add(text, colon === undefined ? 'string' : 'name')
    else if (number !== undefined) add(text, 'number')
    else add(text, word === undefined ? null : 'keyword')
  }
  return parts
}

const MAX_JSON_LENGTH = 20_000

export function Json({ source }: { source: string }) {
  if (source.length > MAX_JSON_LENGTH) return source
  return <Parts parts={partsOfJson(source)} />
}

const Parts = ({ parts }: { parts: readonly CodePart[] }) =>
  parts.map((part, index) => (
    // The parts of a source keep their order.
    <Fragment key={`${index} ${part.kind}`}>
      {part.kind === null ? (
        part.text
      ) : (
        <span className={styles.code} data-kind={part.kind}>
          {part.text}
        </span>
      )}
    </Fragment>
  ))
