import { useInfiniteQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { eventsQuery, type EventRow } from '../../../api/issue-event-queries.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CardHeader } from '../../../ui/card.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { formatCount, formatExact } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { TextButton } from '../../../ui/text-button.tsx'
import { Minor } from '../../../ui/text.tsx'
import { issueTexts } from '../texts.ts'
import { eventsTexts } from './texts.ts'
import { versionOf } from '../../../common/issue/trend.ts'
import { QueryError } from '../../../common/query-error.tsx'
import styles from './list.module.css'
import typeStyles from '../../../ui/type.module.css'
import { Spacer } from '../../../ui/stack.tsx'

type EventListProps = {
  issueId: string
  /** The event that the page shows. */
  shown: string | null
  only: string
  onOnly: (only: string) => void
  onChoose: (eventId: string) => void
  onClose: () => void
}

/** The stored events of the issue, with a filter; choosing one shows it on the page. */
export function EventList({ issueId, shown, only, onOnly, onChoose, onClose }: EventListProps) {
  const [text, setText] = useState(only)
  const list = useInfiniteQuery(eventsQuery(issueId, only))
  const pages = list.data?.pages ?? []
  const rows = pages.flatMap((page) => page.items)
  const looked = pages.reduce((sum, page) => sum + page.looked_at, 0)
  const [first] = pages
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    onOnly(text.trim())
  }
  return (
    <Dialog open bare title={eventsTexts.title} onClose={onClose} className={styles.eventdialog}>
      <CardHeader>
        <h2>{eventsTexts.title}</h2>
        {first === undefined || only !== '' ? null : (
          <Minor>
            {(first.total_capped === true ? eventsTexts.storedOver : eventsTexts.stored)(formatCount(first.total))}
          </Minor>
        )}
        <Spacer />
        <IconButton look="ghost" size="sm" icon="x" label={issueTexts.close} onClick={onClose} />
      </CardHeader>
      <form className={styles.evOnly} role="search" onSubmit={submit}>
        <Field
          label={eventsTexts.only}
          value={text}
          placeholder={eventsTexts.onlyHint}
          maxLength={300}
          spellCheck={false}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setText(event.target.value)}
          after={
            only === '' ? null : (
              <IconButton
                look="ghost"
                size="sm"
                icon="x"
                label={eventsTexts.clear}
                onClick={() => {
                  setText('')
                  onOnly('')
                }}
              />
            )
          }
        />
      </form>
      <div
        className={styles.evList}
        // Focusable, so that keys can scroll it.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={eventsTexts.title}
        aria-busy={list.isFetching}
      >
        {list.error !== null && rows.length === 0 ? (
          <QueryError what={eventsTexts.what} error={list.error} onRetry={() => void list.refetch()} />
        ) : list.data === undefined ? (
          <Skeleton heightPx={300} label={eventsTexts.what} />
        ) : rows.length === 0 ? (
          <p className={styles.evNone}>
            <Icon name="search" /> {eventsTexts.noneMatchText(only)}
          </p>
        ) : (
          <table className={list.isPlaceholderData ? `${styles.evRows} ${styles.isOld}` : styles.evRows}>
            <thead>
              <tr>
                <th scope="col">{eventsTexts.columns.time}</th>
                <th scope="col">{eventsTexts.columns.event}</th>
                <th scope="col">{eventsTexts.columns.release}</th>
                <th scope="col">{eventsTexts.columns.environment}</th>
                <th scope="col">{eventsTexts.columns.user}</th>
                <th scope="col">{eventsTexts.columns.device}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.event_id} row={row} shown={row.event_id === shown} onChoose={onChoose} />
              ))}
            </tbody>
          </table>
        )}
        {list.hasNextPage ? (
          <p className={styles.evMore}>
            <Button size="sm" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              {rows.length === 0 ? eventsTexts.searchOlder : eventsTexts.more}
            </Button>
            {only === '' ? null : <Minor>{eventsTexts.searched(looked)}</Minor>}
          </p>
        ) : null}
      </div>
    </Dialog>
  )
}

function Row({ row, shown, onChoose }: { row: EventRow; shown: boolean; onChoose: (eventId: string) => void }) {
  return (
    <tr className={shown ? styles.isShown : undefined}>
      <th scope="row" className={styles.evT}>
        <TextButton aria-current={shown} onClick={() => onChoose(row.event_id)}>
          {formatExact(row.occurred_at)}
        </TextButton>
      </th>
      <td title={row.title ?? undefined}>
        {row.title ?? <span className={typeStyles.quiet}>{eventsTexts.damaged}</span>}
      </td>
      <td title={row.release ?? undefined}>{row.release === null ? '' : versionOf(row.release)}</td>
      <td>{row.environment}</td>
      <td title={row.user?.label ?? undefined}>{row.user?.label ?? ''}</td>
      <td title={row.os ?? undefined}>{row.device ?? row.os ?? ''}</td>
    </tr>
  )
}
