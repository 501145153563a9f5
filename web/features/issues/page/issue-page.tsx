import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { ApiError } from '../../../api/call.ts'
import { toIssueRow, useIssueDelete, useIssueEdit, type Edit } from '../../../subjects/issue/changes.ts'
import { issueEventQuery, type IssueDetail } from '../../../api/issue-queries.ts'
import { useCan } from '../../../app/can.ts'
import { Breadcrumbs } from './breadcrumbs/breadcrumbs.tsx'
import { AskProvider } from '../../../subjects/issue/decide.tsx'
import { EventPicker } from './events/picker.tsx'
import { IssueFigures } from './figures.tsx'
import { IssueHead, IssueStickBar, IssueTrail, onIgnore, onResolve, type HeadMenu } from './head.tsx'
import { splitTitle } from '../../../subjects/issue/headline.ts'
import { IssueReason } from './reason.tsx'
import { IssueTags } from './tags.tsx'
import { usePageProject } from '../../../app/page-project.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { MessageCard, StackTrace } from './stack-trace/stack-trace.tsx'
import { eventStacks } from './stack-trace/model.ts'
import { useKeys } from '../../../app/keys.ts'
import { carried, paths } from '../../../address/paths.ts'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { late, useLater } from '../../../ui/late.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { PageFoot, PageMain } from '../../../ui/page-main.tsx'
import { mergeTexts } from './merge-texts.ts'
import { issueTexts } from './texts.ts'
import { eventsTexts } from './events/texts.ts'
import { useIssue, useNeighbours } from './data.ts'
import styles from './issue-page.module.css'
import issueStyles from './issue.module.css'
import typeStyles from '../../../ui/type.module.css'

// The parts below and beside the first content.
const detailsCode = late(() => import('./details.tsx').then((module) => module.IssueDetails))
const sideCode = late(() => import('./side.tsx').then((module) => module.IssueSide))

const DeleteDialog = lazy(() =>
  import('../../../subjects/issue/delete-dialog.tsx').then((module) => ({ default: module.IssueDeleteDialog })),
)

const MergeDialog = lazy(() => import('./merge-dialog.tsx').then((module) => ({ default: module.MergeDialog })))
const DiscardDialog = lazy(() => import('./discard-dialog.tsx').then((module) => ({ default: module.DiscardDialog })))

const route = getRouteApi('/signed-in/shell/issues/$issueId')

/** The page of one issue. */
export function IssuePage() {
  const { issueId } = route.useParams()
  const search = route.useSearch()
  const choice = search.event ?? 'latest'
  const only = search.only ?? ''
  const { issue, error, retry, newerCame, showNewest } = useIssue(issueId, choice, only)
  const navigate = route.useNavigate()
  usePageProject(issue?.project_id ?? null)
  usePageTitle(issue === undefined ? null : `${issue.short_id} ${splitTitle(issue).name}`)

  // The issue was merged: the page goes to its merge target.
  const shownId = issue?.id ?? issueId
  useEffect(() => {
    if (shownId !== issueId)
      void navigate({ ...paths.issue(shownId, carried(search)), replace: true, resetScroll: false })
  }, [shownId, issueId, navigate, search])

  const choose = (event: string) => {
    if (event === 'latest') void showNewest()
    void navigate({
      search: (before) => ({ ...before, event: event === 'latest' ? undefined : event }),
      replace: true,
      resetScroll: false,
    })
  }
  const look = (terms: string) =>
    void navigate({
      search: (before) => ({ ...before, only: terms === '' ? undefined : terms, event: undefined }),
      replace: true,
      resetScroll: false,
    })
  if (issue === undefined) {
    return (
      <PageMain>
        {error === null ? <Waiting /> : <Failed error={error} onRetry={retry} issueId={issueId} event={search.event} />}
      </PageMain>
    )
  }
  return (
    <PageMain>
      <AskProvider>
        <IssueBody
          key={issue.id}
          issue={issue}
          newerCame={newerCame}
          choice={choice}
          only={only}
          onOnly={look}
          onChoose={choose}
        />
      </AskProvider>
    </PageMain>
  )
}

function Waiting() {
  return (
    <>
      <h1 className={typeStyles.hidden}>{issueTexts.what}</h1>
      <Skeleton heightPx={96} label={issueTexts.what} />
      <div className={styles.gap} />
      <Skeleton heightPx={220} label={issueTexts.overview} />
      <div className={styles.gap} />
      <Skeleton heightPx={420} label={issueTexts.trace} />
    </>
  )
}

type FailedProps = { error: Error; onRetry: () => void; issueId: string; event: string | undefined }

function Failed({ error, onRetry, issueId, event }: FailedProps) {
  if (!(error instanceof ApiError && error.status === 404))
    return <QueryError what={issueTexts.what} error={error} onRetry={onRetry} />
  // The issue exists, but the event of the address is no longer stored.
  const oneEvent = event !== undefined
  return (
    <EmptyState
      kind="missing"
      heading="h1"
      title={oneEvent ? issueTexts.eventMissing : issueTexts.missing}
      actions={
        <Link {...(oneEvent ? paths.issue(issueId) : paths.issues())} {...buttonLook({ look: 'primary' })}>
          <span>{oneEvent ? issueTexts.showLatest : issueTexts.toIssues}</span>
        </Link>
      }
    >
      {oneEvent ? issueTexts.eventMissingText : issueTexts.missingText}
    </EmptyState>
  )
}

type IssueBodyProps = {
  issue: IssueDetail
  newerCame: boolean
  choice: string
  only: string
  onOnly: (only: string) => void
  onChoose: (event: string) => void
}

function IssueBody({ issue, newerCame, choice, only, onOnly, onChoose }: IssueBodyProps) {
  const client = useQueryClient()
  const navigate = route.useNavigate()
  const search = route.useSearch()
  const { back, neighbours } = useNeighbours(issue.id)
  const [menu, setMenu] = useState<HeadMenu>(null)
  const [asking, setAsking] = useState<'delete' | 'merge' | 'discard' | null>(null)
  const ask = {
    onDelete: () => setAsking('delete'),
    onMerge: () => setAsking('merge'),
    onDiscard: () => setAsking('discard'),
  }
  const stop = () => setAsking(null)
  const canChange = useCan('issues.write').allowed
  const edit = useIssueEdit()
  const after = neighbours?.next ?? neighbours?.previous ?? null
  const go = (issueId: string) => void navigate({ ...paths.issue(issueId, carried(search)), replace: true })
  const leave = () => (after === null ? void navigate(paths.issues(back)) : go(after))
  const remove = useIssueDelete(leave)
  const apply = (next: Edit) => {
    if (canChange) edit.mutate({ issues: [toIssueRow(issue)], edit: next })
  }
  const { event } = issue
  const details = useLater(detailsCode, { issue, onOnly })
  const side = useLater(sideCode, { issue, search, onOnly, onMerge: ask.onMerge })
  const hasStack = event !== null && eventStacks(event).length > 0

  // The next issue is prefetched for J.
  const next = neighbours?.next ?? null
  useEffect(() => {
    // An error is shown when the user goes there.
    if (next !== null) void client.query(issueEventQuery(next, 'latest')).catch(() => undefined)
  }, [client, next])

  useKeys([
    ...(neighbours?.next == null
      ? []
      : [
          {
            keys: 'j',
            repeats: true,
            label: issueTexts.next,
            group: 'Issue' as const,
            run: () => neighbours.next !== null && go(neighbours.next),
          },
        ]),
    ...(neighbours?.previous == null
      ? []
      : [
          {
            keys: 'k',
            repeats: true,
            label: issueTexts.previous,
            group: 'Issue' as const,
            run: () => neighbours.previous !== null && go(neighbours.previous),
          },
        ]),
    { keys: 'r', label: issueTexts.keys.resolve, group: 'Issue', run: () => apply(onResolve(issue)) },
    { keys: 'i', label: issueTexts.keys.ignore, group: 'Issue', run: () => apply(onIgnore(issue)) },
    { keys: 'a', label: issueTexts.assign, group: 'Issue', run: () => canChange && setMenu('assignee') },
    { keys: 's', label: issueTexts.severity, group: 'Issue', run: () => canChange && setMenu('severity') },
    { keys: 'm', label: mergeTexts.merge, group: 'Issue', run: () => canChange && ask.onMerge() },
    { keys: 'u', label: issueTexts.keys.list, group: 'Issue', run: () => void navigate(paths.issues(back)) },
    ...SECTIONS.map(({ id, label }, index) => ({
      keys: String(index + 1),
      label: issueTexts.keys.section(label),
      group: 'Issue' as const,
      run: () => goToSection(id),
      sheetOnly: true,
    })),
  ])

  return (
    <>
      <IssueTrail issue={issue} back={back} neighbours={neighbours} onGo={go} />
      <IssueHead issue={issue} onEdit={apply} {...ask} menu={menu} onMenu={setMenu} />
      <IssueReason issue={issue} onShow={onChoose} />
      <div className={styles.icols}>
        <div className={issueStyles.imain}>
          <IssueFigures issue={issue} />
          <EventPicker
            issueId={issue.id}
            choice={choice}
            only={only}
            onOnly={onOnly}
            event={event}
            ids={issue.event_ids}
            onChoose={onChoose}
            newerCame={newerCame}
          />
          {event === null && only !== '' && issue.event_ids.latest === null ? (
            <Card>
              <EmptyState
                heading="h2"
                title={eventsTexts.noneMatch}
                actions={<Button onClick={() => onOnly('')}>{eventsTexts.clear}</Button>}
              >
                {eventsTexts.noneMatchText(only)}
              </EmptyState>
            </Card>
          ) : event === null ? (
            <Card>
              <EmptyState heading="h2" title={issueTexts.eventGone}>
                {issueTexts.eventGoneText}
              </EmptyState>
            </Card>
          ) : (
            <>
              {hasStack ? (
                <StackTrace
                  key={event.event_id}
                  event={event}
                  projectId={issue.project.id}
                  links={issue.code.source_links}
                />
              ) : (
                <MessageCard event={event} />
              )}
              {hasStack ? null : <IssueTags issue={issue} event={event} onOnly={onOnly} />}
              <Breadcrumbs key={`crumbs ${event.event_id}`} event={event} />
            </>
          )}
          {details}
        </div>
        <aside className={classNames(issueStyles.irail, styles.side)} aria-label={issueTexts.details}>
          {side}
        </aside>
      </div>
      <PageFoot>
        <IssueStickBar issue={issue} onEdit={apply} {...ask} />
      </PageFoot>
      {asking === 'merge' ? (
        <Suspense fallback={null}>
          <MergeDialog issue={issue} onClose={stop} />
        </Suspense>
      ) : null}
      {asking === 'discard' ? (
        <Suspense fallback={null}>
          <DiscardDialog issue={issue} onClose={stop} onGone={leave} />
        </Suspense>
      ) : null}
      {asking === 'delete' ? (
        <Suspense fallback={null}>
          <DeleteDialog
            issues={[issue]}
            onClose={stop}
            onDelete={() => {
              stop()
              remove.mutate({ issues: [toIssueRow(issue)] })
            }}
          />
        </Suspense>
      ) : null}
    </>
  )
}

/** The sections of the keys 1 to 6. The key of a missing section does nothing. */
const SECTIONS = [
  { id: 'h-trace', label: issueTexts.trace },
  { id: 'h-crumbs', label: issueTexts.crumbs },
  { id: 'h-tags', label: issueTexts.share },
  { id: 'h-contexts', label: issueTexts.contexts },
  { id: 'h-activity', label: issueTexts.activity },
  { id: 'h-grouping', label: issueTexts.grouping },
] as const

function goToSection(id: string): void {
  const heading = document.getElementById(id)
  heading?.scrollIntoView({ block: 'start' })
  heading?.focus({ preventScroll: true })
}
