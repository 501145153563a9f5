import { Link } from '@tanstack/react-router'
import { createContext, memo, use, useDeferredValue, useMemo } from 'react'
import { paths } from '../../../address/paths.ts'
import type { AnswerSource } from '../../../api/ask-stream.ts'
import { Markdown, type OwnParts } from '../../../subjects/markdown/markdown.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { CodeBox } from '../../../ui/code-box.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import typeStyles from '../../../ui/type.module.css'
import { FactsTable } from './facts-table.tsx'
import { splitBlocks, splitLine, type Block } from './model.ts'
import { askTexts as texts } from './texts.ts'
import styles from './answer.module.css'

type Sources = {
  readonly known: readonly AnswerSource[]
  /** A figure of a finished answer whose source never came has none. */
  readonly isDone: boolean
  readonly projectId: string | undefined
  readonly onOpen: (n: number) => void
}
const Sources = createContext<Sources>({ known: [], isDone: true, projectId: undefined, onOpen: () => undefined })

type AnswerTextProps = Sources & { text: string }

/** The text of an answer as Markdown, never as markup. Its figures open their sources. */
export function AnswerText({ text, known, isDone, projectId, onOpen }: AnswerTextProps) {
  // Typing a question goes before showing the answer to the one before.
  const shown = useDeferredValue(text)
  const blocks = useMemo(() => splitBlocks(shown), [shown])
  const sources = useMemo(() => ({ known, isDone, projectId, onOpen }), [known, isDone, projectId, onOpen])
  return (
    <Sources value={sources}>
      <div className={styles.text} aria-busy={!isDone}>
        {blocks.map((block, index) => (
          // Blocks are only added.
          <AnswerBlock key={index} block={block} />
        ))}
      </div>
    </Sources>
  )
}

/** Blocks that did not change are not drawn again. */
const AnswerBlock = memo(
  function AnswerBlock({ block }: { block: Block }) {
    if (block.kind === 'text') return <Markdown text={block.text} own={OWN} />
    if (block.kind === 'code') return <Code {...block} />
    return <AnswerTable rows={block.rows} />
  },
  (before, after) => JSON.stringify(before.block) === JSON.stringify(after.block),
)

const OWN: OwnParts = {
  line: (text) =>
    splitLine(text).map((part, index) =>
      typeof part === 'string' ? part : <Figure key={index} figure={part.figure} n={part.source} />,
    ),
  code: (language, text) => <Code language={language} text={text} isOpen={false} />,
}

function Figure({ figure, n }: { figure: string; n: number | null }) {
  const { known, isDone, onOpen } = use(Sources)
  const source = known.find((one) => one.n === n)
  if (source === undefined)
    return (
      <span className={styles.figure} data-unsourced={n === null || isDone ? '' : undefined} title={texts.noSourceHint}>
        {figure}
        <sup>{n === null || isDone ? texts.noSource : n}</sup>
      </span>
    )
  return (
    <button type="button" className={styles.figure} title={source.title} onClick={() => onOpen(source.n)}>
      {figure}
      <span className={typeStyles.hidden}>{texts.mark}</span>
      <sup>{n}</sup>
    </button>
  )
}

function Code({ language, text, isOpen }: { language: string; text: string; isOpen: boolean }) {
  const { projectId } = use(Sources)
  const source = (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={styles.code} tabIndex={0}>
      <code>{text}</code>
    </pre>
  )
  if (isOpen || language !== 'sql') return source
  return (
    <CodeBox
      title="SELECT"
      action={
        <span className={fitStyles.wrapsCentred}>
          <Link {...paths.query({ project: projectId, sql: text })} {...buttonLook({ size: 'sm' })}>
            <Icon name="query" />
            <span>{texts.openInQuery}</span>
          </Link>
          <CopyButton iconOnly text={text} said={texts.copied} />
        </span>
      }
    >
      {source}
    </CodeBox>
  )
}

const AnswerTable = ({ rows }: { rows: readonly (readonly string[])[] }) => (
  <div className={styles.table}>
    <FactsTable label={texts.table} rows={rows} draw={drawCell} />
  </div>
)

const drawCell = (cell: string) => <Markdown text={cell} own={OWN} />
