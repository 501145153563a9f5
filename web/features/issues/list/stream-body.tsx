import { lazy, Suspense } from 'react'
import { errorSentence } from '../../../api/change.ts'
import { appTexts } from '../../../app/texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { Button } from '../../../ui/button.tsx'
import { formatClock, formatCount } from '../../../ui/format.ts'
import { Kbd } from '../../../ui/kbd.tsx'
import { Note } from '../../../ui/note.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { IssueList } from './list.tsx'
import type { StreamModel } from './stream-commands.ts'
import { issuesTexts } from './texts.ts'
import { statusView } from './views.tsx'
import issuesStyles from './issues.module.css'
import styles from './issues-page.module.css'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'

const EmptyStream = lazy(() => import('./empty.tsx').then((module) => ({ default: module.EmptyStream })))

const SKELETON_ROWS = 12

/** The list of issues, or what is in its place. */
export function StreamBody(model: StreamModel) {
  const { list, rows, total, totalCapped } = model.stream
  return (
    <section className={issuesStyles.stream} aria-label={issuesTexts.stream}>
      {rows.length > 0 ? <Rows {...model} /> : <NoRows {...model} />}
      {list.isFetchNextPageError ? (
        <div className={issuesStyles.moreover}>
          <Note
            tone="red"
            icon="warn"
            role="alert"
            action={
              <Button size="sm" onClick={() => void list.fetchNextPage()}>
                {appTexts.tryAgain}
              </Button>
            }
          >
            {issuesTexts.moreFailed} {errorSentence(list.error)}
          </Note>
        </div>
      ) : null}
      {rows.length === 0 ? null : (
        <p className={styles.streamFoot}>
          <span>
            {issuesTexts.shown(
              `1–${formatCount(rows.length)}`,
              totalCapped ? issuesTexts.capped(formatCount(total)) : formatCount(Math.max(total, rows.length)),
            )}
          </span>
          <span className={classNames(styles.hints, narrowStyles.hiddenAt600)} aria-hidden="true">
            <Kbd keys="j" /> <Kbd keys="k" /> {issuesTexts.hints.move} <Kbd keys="x" /> {issuesTexts.hints.select}{' '}
            <Kbd keys="enter" /> {issuesTexts.hints.open} <Kbd keys="?" /> {issuesTexts.hints.all}
          </span>
        </p>
      )}
    </section>
  )
}

function Rows({ search, stream, state, commands }: StreamModel) {
  const { list, rows, total, totalCapped, waiting, readAt } = stream
  const clock = readAt === 0 ? '' : formatClock(readAt)
  return (
    <IssueList
      rows={rows}
      total={totalCapped ? null : Math.max(total, rows.length)}
      search={search}
      selection={state.selection}
      focusTurn={state.focusTurn}
      canChange={commands.canChange}
      menu={state.rowMenu}
      onMenu={commands.onRowMenu}
      onEdit={commands.onRowEdit}
      onToggle={commands.toggle}
      onAll={(all) => commands.move({ kind: all ? 'all' : 'clear' })}
      onOpen={commands.open}
      onNearEnd={commands.onNearEnd}
      fresh={
        waiting.length === 0 ? null : { label: issuesTexts.fresh(waiting.length, clock), onShow: commands.showFresh }
      }
      busy={list.isPlaceholderData}
    />
  )
}

function NoRows({ search, filters, stream: { list }, mistake, commands }: StreamModel) {
  if (mistake !== null) return <p className={styles.unread}>{issuesTexts.unreadable}</p>
  if (list.error !== null)
    return (
      <QueryError
        what={issuesTexts.what}
        error={list.error}
        onRetry={() => void list.refetch()}
        kept={issuesTexts.filtersKept}
      />
    )
  if (!commands.isEmpty) return <SkeletonRows rows={SKELETON_ROWS} label={issuesTexts.what} />
  return (
    <Suspense fallback={null}>
      <EmptyStream search={search} range={filters.range} view={statusView(filters.status)} onChange={commands.change} />
    </Suspense>
  )
}
