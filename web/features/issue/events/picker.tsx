import { lazy, Suspense, useState } from 'react'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { useKeys } from '../../../common/keys.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { formatExact } from '../../../ui/format.ts'
import { Segmented } from '../../../ui/segmented.tsx'
import { TextButton } from '../../../ui/text-button.tsx'
import { issueTexts } from '../texts.ts'
import { eventsTexts } from './texts.ts'
import styles from './picker.module.css'
import typeStyles from '../../../ui/type.module.css'
import { Spacer } from '../../../ui/stack.tsx'

const EventList = lazy(() => import('./list.tsx').then((module) => ({ default: module.EventList })))
const EventJson = lazy(() => import('./json.tsx').then((module) => ({ default: module.EventJson })))

type EventPickerProps = {
  issueId: string
  /** The choice: `latest`, `oldest`, `most_complete`, or an event's id. */
  choice: string
  /** Filter of the neighbouring events. */
  only: string
  onOnly: (only: string) => void
  event: IssueDetail['event']
  ids: IssueDetail['event_ids']
  onChoose: (event: string) => void
  /** Whether a newer event arrived. */
  newerCame: boolean
}

/** Selects the shown event and leads to its neighbours. */
export function EventPicker(props: EventPickerProps) {
  const { issueId, choice, only, onOnly, event, ids, onChoose, newerCame } = props
  const [list, setList] = useState(false)
  const [json, setJson] = useState(false)
  const { older, newer } = ids
  useKeys([
    ...(older === null
      ? []
      : [{ keys: '[', label: issueTexts.older, group: 'Issue' as const, repeats: true, run: () => onChoose(older) }]),
    ...(newer === null
      ? []
      : [{ keys: ']', label: issueTexts.newer, group: 'Issue' as const, repeats: true, run: () => onChoose(newer) }]),
    { keys: 'v', label: eventsTexts.all, group: 'Issue' as const, run: () => setList(true) },
    ...(newerCame
      ? [{ keys: '.', label: issueTexts.showNewest, group: 'Issue' as const, run: () => onChoose('latest') }]
      : []),
  ])
  const at =
    event === null
      ? 'none'
      : choice === 'most_complete'
        ? choice
        : event.event_id === ids.latest
          ? 'latest'
          : event.event_id === ids.oldest
            ? 'oldest'
            : 'none'
  return (
    <section className={styles.evnav} aria-label={issueTexts.event}>
      <Segmented
        size="sm"
        label={issueTexts.whichEvent}
        value={at}
        options={[
          { value: 'latest', label: issueTexts.latest },
          { value: 'most_complete', label: eventsTexts.mostComplete, title: eventsTexts.mostCompleteTitle },
          { value: 'oldest', label: issueTexts.first },
        ]}
        onChange={onChoose}
      />
      {event === null ? null : (
        <>
          <span className={`${typeStyles.mono} ${styles.evId}`} title={event.event_id}>
            {event.event_id.slice(0, 8)}
          </span>
          <CopyButton iconOnly text={event.event_id} said={issueTexts.eventIdCopied}>
            {issueTexts.copyEventId}
          </CopyButton>
          <time dateTime={event.occurred_at}>{formatExact(event.occurred_at)}</time>
        </>
      )}
      {only === '' ? null : (
        <span className={styles.evTok}>
          <b title={only}>{only}</b>
          <IconButton look="ghost" size="sm" icon="x" label={eventsTexts.clear} onClick={() => onOnly('')} />
        </span>
      )}
      <Spacer />
      {newerCame ? (
        <span className={styles.newer} role="status">
          {issueTexts.newerArrived} <TextButton onClick={() => onChoose('latest')}>{issueTexts.showNewest}</TextButton>
        </span>
      ) : null}
      <Button look="ghost" size="sm" icon="issues" keys="v" onClick={() => setList(true)}>
        {eventsTexts.all}
      </Button>
      {event === null ? null : (
        <Button look="ghost" size="sm" icon="code" onClick={() => setJson(true)}>
          {issueTexts.json}
        </Button>
      )}
      <IconButton
        size="sm"
        icon="left"
        label={issueTexts.older}
        keys="["
        why={older === null ? issueTexts.noOlder : undefined}
        onClick={() => older !== null && onChoose(older)}
      />
      <IconButton
        size="sm"
        icon="right"
        label={issueTexts.newer}
        keys="]"
        why={newer === null ? issueTexts.noNewer : undefined}
        onClick={() => newer !== null && onChoose(newer)}
      />
      {list ? (
        <Suspense fallback={null}>
          <EventList
            issueId={issueId}
            shown={event?.event_id ?? null}
            only={only}
            onOnly={onOnly}
            onChoose={(id) => {
              setList(false)
              onChoose(id)
            }}
            onClose={() => setList(false)}
          />
        </Suspense>
      ) : null}
      {json && event !== null ? (
        <Suspense fallback={null}>
          <EventJson issueId={issueId} event={event} onClose={() => setJson(false)} />
        </Suspense>
      ) : null}
    </section>
  )
}
