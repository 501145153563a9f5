import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { paths } from '../../../../address/paths.ts'
import type { IssueDetail } from '../../../../api/issue-queries.ts'
import { useKeys } from '../../../../app/keys.ts'
import { Button, buttonLook, IconButton } from '../../../../ui/button.tsx'
import { CopyButton } from '../../../../ui/copy-button.tsx'
import { formatExact } from '../../../../ui/format.ts'
import { Icon } from '../../../../ui/icon.tsx'
import { Kbd } from '../../../../ui/kbd.tsx'
import { Segmented } from '../../../../ui/segmented.tsx'
import { TextButton } from '../../../../ui/text-button.tsx'
import { issueTexts } from '../texts.ts'
import { sharedTerm } from '../../../../api/term-keys.ts'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import { eventsTexts } from './texts.ts'
import styles from './picker.module.css'
import typeStyles from '../../../../ui/type.module.css'
import { Spacer } from '../../../../ui/stack.tsx'

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
  const navigate = useNavigate()
  const { project, range } = useSearch({ from: '/signed-in/shell/issues/$issueId' })
  const all = paths.issueEvents(issueId, { project, range, only: only === '' ? undefined : only })
  const [json, setJson] = useState(false)
  const { older, newer } = ids
  useKeys([
    ...(older === null
      ? []
      : [{ keys: '[', label: issueTexts.older, group: 'Issue' as const, repeats: true, run: () => onChoose(older) }]),
    ...(newer === null
      ? []
      : [{ keys: ']', label: issueTexts.newer, group: 'Issue' as const, repeats: true, run: () => onChoose(newer) }]),
    { keys: 'v', label: eventsTexts.all, group: 'Issue' as const, run: () => void navigate(all) },
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
    <section className={styles.picker} aria-label={issueTexts.event}>
      <div className={styles.choices}>
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
        {only === '' ? null : (
          <span className={styles.evTok}>
            <b title={only}>{only}</b>
            <IconButton look="ghost" size="sm" icon="x" label={eventsTexts.clear} onClick={() => onOnly('')} />
          </span>
        )}
        <Spacer />
        <Link {...all} {...buttonLook({ look: 'ghost', size: 'sm' })}>
          <Icon name="issues" />
          <span>{eventsTexts.all}</span>
          <Kbd keys="v" />
        </Link>
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
      </div>
      {/* Below the controls: a newer event can offer itself here without moving them. */}
      <div className={styles.chosen}>
        {event === null ? null : (
          <>
            <span className={`${typeStyles.mono} ${styles.evId}`} title={event.event_id}>
              {event.event_id.slice(0, 8)}
            </span>
            <CopyButton iconOnly text={event.event_id} said={issueTexts.eventIdCopied}>
              {issueTexts.copyEventId}
            </CopyButton>
            <time className={fitStyles.nowrap} dateTime={event.occurred_at}>
              {formatExact(event.occurred_at)}
            </time>
          </>
        )}
        <Spacer />
        {newerCame ? (
          <span className={styles.newer} role="status">
            {issueTexts.newerArrived}{' '}
            <TextButton onClick={() => onChoose('latest')}>{issueTexts.showNewest}</TextButton>
          </span>
        ) : null}
      </div>
      {event === null || event.tags.length === 0 ? null : <EventTags tags={event.tags} onOnly={onOnly} />}
      {json && event !== null ? (
        <Suspense fallback={null}>
          <EventJson issueId={issueId} event={event} onClose={() => setJson(false)} />
        </Suspense>
      ) : null}
    </section>
  )
}

/** So many tags take two or three rows. */
const MAX_TAGS = 12

type EventTagsProps = { tags: Event['tags']; onOnly: (only: string) => void }

/** The tags of the shown event; each filters the events by its value. */
function EventTags({ tags, onOnly }: EventTagsProps) {
  const [whole, setWhole] = useState(false)
  const shown = whole ? tags : tags.slice(0, MAX_TAGS)
  return (
    <ul className={classNames(styles.tags, typeStyles.strongNames)} aria-label={issueTexts.tags}>
      {shown.map((tag, index) => (
        // An SDK may repeat a key.
        <li key={`${tag.key} ${index}`}>
          <button
            type="button"
            className={typeStyles.mono}
            title={eventsTexts.onlyThese(`${tag.key} ${tag.value}`)}
            onClick={() => onOnly(sharedTerm(tag.key, tag.value))}
          >
            <span>{tag.key}</span> <b>{tag.value}</b>
          </button>
        </li>
      ))}
      {shown.length === tags.length ? null : (
        <li>
          <TextButton onClick={() => setWhole(true)}>{issueTexts.showAllTags(tags.length)}</TextButton>
        </li>
      )}
    </ul>
  )
}
