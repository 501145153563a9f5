import { isCostlyMarkdown } from '#shared/comment-cost.ts'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { Link } from '@tanstack/react-router'
import { createContext, Fragment, use, useMemo, type ReactNode } from 'react'
import type { Comment } from '../../api/issue-queries.ts'
import { paths } from '../../address/paths.ts'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { safeUrl } from '../../ui/safe-url.ts'
import { mentionParts } from '../members/model.ts'
import { membersTexts } from '../members/texts.ts'
import typeStyles from '../../ui/type.module.css'
import styles from './markdown.module.css'

type Root = ReturnType<typeof fromMarkdown>
type Node = Root['children'][number]

/**
 * Markdown as React elements, never as markup: raw HTML is text, images are links (so that a comment causes no requests
 * to other servers), and only http, https and mailto addresses are links.
 */
export function Markdown({ text, mentions = NO_MENTIONS, own = NONE_OWN }: MarkdownProps) {
  const tree = useMemo(
    () =>
      isCostlyMarkdown(text) ? null : fromMarkdown(text, { extensions: own === NONE_OWN ? [] : [NO_DEFINITIONS] }),
    [text, own],
  )
  return (
    <Own value={own}>
      <Mentions value={mentions}>
        <div className={styles.markdown}>
          {tree === null ? (
            <p>
              <PlainText text={text} />
            </p>
          ) : (
            many(tree.children)
          )}
        </div>
      </Mentions>
    </Own>
  )
}

type MarkdownProps = { text: string; mentions?: Comment['mentions']; own?: OwnParts }

/** How a page draws parts of a text in its own way. Such a text has no definitions, and so no addresses behind `[1]`. */
export type OwnParts = {
  /** A line of text; absent for text with links. */
  readonly line?: (text: string) => ReactNode
  /** A block of code, by the language that it names. */
  readonly code?: (language: string, text: string) => ReactNode
}
const NONE_OWN: OwnParts = {}
const Own = createContext(NONE_OWN)
const NO_DEFINITIONS = { disable: { null: ['definition'] } }

const NO_MENTIONS: Comment['mentions'] = []
/** The members that the text mentions, as the server found them when it was saved. */
const Mentions = createContext(NO_MENTIONS)

const many = (nodes: readonly Node[]): ReactNode =>
  // The tree of one text never changes, so indices can be keys.
  nodes.map((node, index) => <Fragment key={index}>{one(node)}</Fragment>)

function one(node: Node): ReactNode {
  switch (node.type) {
    case 'text':
      return <PlainText text={node.value} />
    case 'paragraph':
      return <p>{many(node.children)}</p>
    case 'emphasis':
      return <em>{many(node.children)}</em>
    case 'strong':
      return <strong>{many(node.children)}</strong>
    case 'inlineCode':
      return <code>{node.value}</code>
    case 'code':
      return <CodeBlock language={node.lang ?? ''} text={node.value} />
    case 'blockquote':
      return <blockquote>{many(node.children)}</blockquote>
    case 'heading':
      // Headings of a comment are bold text, because the page has headings of its own.
      return (
        <p>
          <strong>{many(node.children)}</strong>
        </p>
      )
    case 'list':
      return node.ordered === true ? (
        <ol start={node.start ?? 1}>{many(node.children)}</ol>
      ) : (
        <ul>{many(node.children)}</ul>
      )
    case 'listItem':
      return <li>{many(node.children)}</li>
    case 'thematicBreak':
      return <hr />
    case 'break':
      return <br />
    case 'link':
      return <Away url={node.url}>{many(node.children)}</Away>
    case 'image':
      return <Away url={node.url}>{node.alt == null || node.alt === '' ? node.url : node.alt}</Away>
    case 'html':
      return node.value
    default:
      // References and definitions have no safe address; their text is shown.
      return 'children' in node ? many(node.children) : null
  }
}

function CodeBlock({ language, text }: { language: string; text: string }) {
  const { code } = use(Own)
  if (code !== undefined) return code(language, text)
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  )
}

function Away({ url, children }: { url: string; children: ReactNode }) {
  const href = /^mailto:/iu.test(url) ? url : safeUrl(url)
  if (href === null) return children
  return (
    <a className={typeStyles.link} href={href} rel="noopener noreferrer nofollow" target="_blank">
      <InLink value>{children}</InLink>
    </a>
  )
}

/** The text of a link, without links inside it. */
const InLink = createContext(false)

const ADDRESS = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]}]/giu

/** Text with its line breaks; addresses and mentions are links. */
function PlainText({ text }: { text: string }) {
  const mentions = use(Mentions)
  const isInLink = use(InLink)
  const { line: ownLine = linked } = use(Own)
  if (isInLink) return broken(text.split('\n'))
  return text.split('\n').map((line, index) => (
    <Fragment key={index}>
      {index === 0 ? null : <br />}
      {mentionParts(line, mentions).map((part, place) =>
        typeof part === 'string' ? (
          <Fragment key={place}>{ownLine(part)}</Fragment>
        ) : (
          <Link
            key={place}
            className={classNames(styles.mention, choiceStyles.underlines)}
            {...paths.issues({ assignee: part.id })}
            title={membersTexts.mentionOf(part.name)}
          >
            {part.text}
          </Link>
        ),
      )}
    </Fragment>
  ))
}

const broken = (lines: readonly string[]): ReactNode =>
  lines.map((line, index) => (
    <Fragment key={index}>
      {index === 0 ? null : <br />}
      {line}
    </Fragment>
  ))

function linked(line: string): ReactNode {
  const parts: ReactNode[] = []
  let from = 0
  for (const match of line.matchAll(ADDRESS)) {
    parts.push(line.slice(from, match.index))
    parts.push(
      <Away key={match.index} url={match[0]}>
        {match[0]}
      </Away>,
    )
    from = match.index + match[0].length
  }
  return from === 0 ? line : [...parts, line.slice(from)]
}
