import { useEffect, useRef } from 'react'
import type { AnswerSource } from '../../../api/ask-stream.ts'
import { InAppLink } from '../../../subjects/assistant/in-app-link.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatMoment } from '../../../ui/format.ts'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { FactsTable } from './facts-table.tsx'
import { askTexts as texts } from './texts.ts'
import styles from './sources.module.css'

/** The source that a figure opened; `at` tells two openings apart. */
export type Opened = { readonly n: number; readonly at: number } | null

/** The sources of the figures of an answer: beside the conversation, below it where there is no room. */
export function AnswerSources({ sources, opened }: { sources: readonly AnswerSource[]; opened: Opened }) {
  return (
    <aside className={styles.sources} aria-labelledby="h-sources">
      <h2 id="h-sources">{texts.sources}</h2>
      {sources.length === 0 ? <Minor as="p">{texts.noSources}</Minor> : null}
      {sources.map((source, index) => (
        <Source
          key={source.n}
          source={source}
          isFirst={index === 0}
          openedAt={opened?.n === source.n ? opened.at : null}
        />
      ))}
    </aside>
  )
}

function Source({ source, isFirst, openedAt }: { source: AnswerSource; isFirst: boolean; openedAt: number | null }) {
  const summary = useRef<HTMLElement>(null)
  useEffect(() => {
    const details = summary.current?.closest('details')
    if (openedAt === null || details == null) return
    details.open = true
    details.scrollIntoView({ block: 'nearest' })
    summary.current?.focus({ preventScroll: true })
  }, [openedAt])
  const count = Math.max(0, source.rows.length - 1)
  return (
    <Card as="details" open={isFirst}>
      <summary className={styles.head} ref={summary}>
        <span className={styles.n}>{source.n}</span>
        <span className={classNames(typeStyles.medium, fitStyles.ellipsis)} title={source.title}>
          {source.title}
        </span>
        <Minor>{texts.rows(count)}</Minor>
        <DisclosureIcon />
      </summary>
      {count === 0 ? null : <FactsTable label={source.title} rows={source.rows} className={styles.rows} />}
      <div className={styles.foot}>
        <Minor>
          {texts.readBy(source.operation)} {texts.dataOf(formatMoment(source.as_of))}
        </Minor>
        {source.link === null ? null : (
          <InAppLink path={source.link} {...buttonLook({ size: 'sm' })}>
            <span>{texts.open}</span>
          </InAppLink>
        )}
      </div>
    </Card>
  )
}
