import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Event } from '../../../../server/events/protocol/event.api.ts'
import { sharesQuery, type Share } from '../../../api/issue-event-queries.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { formatFactor } from '../../../ui/format.ts'
import { TextButton } from '../../../ui/text-button.tsx'
import { Minor } from '../../../ui/text.tsx'
import { issueTexts } from './texts.ts'
import { sharedTerm } from '../../../api/term-keys.ts'
import { eventsTexts } from './events/texts.ts'
import { isNotable, wholePercentText, sharesByKey, type SharesOfKey } from './shares-model.ts'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import styles from './tags.module.css'
import issueStyles from './issue.module.css'
import typeStyles from '../../../ui/type.module.css'

const KEYS_AT_START = 9
const VALUES = 4

type IssueTagsProps = {
  issue: Pick<IssueDetail, 'id'>
  event: Event | null
  /** Filters the events by this value. */
  onOnly: (only: string) => void
}

/** Common values of the newest events, compared with other issues; those of the shown event are marked. */
export function IssueTags({ issue, event, onOnly }: IssueTagsProps) {
  const [whole, setWhole] = useState(false)
  const { data, error, refetch } = useQuery(sharesQuery(issue.id))
  const keys = sharesByKey(data?.items ?? [])
  if (error === null && data !== undefined && keys.length === 0) return null
  const shown = whole ? keys : keys.slice(0, KEYS_AT_START)
  return (
    <Card
      title={issueTexts.share}
      titleId="h-tags"
      header={data === undefined ? null : <Minor>{eventsTexts.compared(data.events, data.baseline_events)}</Minor>}
    >
      {error === null ? null : (
        <QueryError what={eventsTexts.sharesName} error={error} onRetry={() => void refetch()} />
      )}
      {shown.length === 0 ? null : (
        <div className={classNames(styles.tagds, narrowStyles.oneColumnAt600)}>
          {shown.map((one) => (
            <Values key={one.key} of={one} own={ownOf(one.key, event)} onOnly={onOnly} />
          ))}
        </div>
      )}
      {shown.length === keys.length ? null : (
        <p className={issueStyles.tagMore}>
          <TextButton onClick={() => setWhole(true)}>{issueTexts.showAllTags(keys.length)}</TextButton>
        </p>
      )}
    </Card>
  )
}

const ownOf = (key: string, event: Event | null): string | null =>
  event?.tags.find((tag) => tag.key === key)?.value ??
  (key === 'release' ? (event?.release ?? null) : key === 'environment' ? (event?.environment ?? null) : null)

function Values({ of, own, onOnly }: { of: SharesOfKey; own: string | null; onOnly: (only: string) => void }) {
  const values = of.values.slice(0, VALUES)
  const rest = 1 - values.reduce((sum, { share }) => sum + share, 0)
  return (
    <div className={issueStyles.tagd}>
      <h3 className={fitStyles.ellipsis} title={of.key}>
        {of.key}
      </h3>
      <ul>
        {values.map((share) => (
          <Value key={share.value} share={share} own={share.value === own} onOnly={onOnly} />
        ))}
        {rest < 0.005 ? null : (
          <li className={issueStyles.tagrow}>
            <span className={classNames(issueStyles.tl, fitStyles.ellipsis, typeStyles.quiet)}>
              {eventsTexts.others}
            </span>
            <span className={issueStyles.tb} aria-hidden="true">
              <span style={{ inlineSize: `${rest * 100}%` }} />
            </span>
            <span className={classNames(typeStyles.figures, issueStyles.figure, fitStyles.nowrap)}>
              {wholePercentText(rest)}
            </span>
          </li>
        )}
      </ul>
    </div>
  )
}

/** A bar with the share, and a mark at the share in other issues. */
function Value({ share, own, onOnly }: { share: Share; own: boolean; onOnly: (only: string) => void }) {
  const notable = isNotable(share)
  const baseline = share.baseline_share === null ? null : wholePercentText(share.baseline_share)
  const more = eventsTexts.against(share.count, baseline)
  const said = notable && share.lift !== null ? `${more}. ${eventsTexts.often(formatFactor(share.lift))}` : more
  return (
    <li>
      <button
        type="button"
        className={issueStyles.tagrow}
        title={`${share.value}: ${said}`}
        onClick={() => onOnly(sharedTerm(share.key, share.value))}
      >
        <span
          className={
            own
              ? classNames(issueStyles.tl, fitStyles.ellipsis, typeStyles.medium)
              : classNames(issueStyles.tl, fitStyles.ellipsis)
          }
        >
          {share.value === '' ? '“”' : share.key === 'release' ? shortVersion(share.value) : share.value}
        </span>
        <span className={`${issueStyles.tb} ${styles.tbBase}`} aria-hidden="true">
          <span data-notable={notable ? '' : undefined} style={{ inlineSize: `${share.share * 100}%` }} />
          {share.baseline_share === null ? null : (
            <i style={{ insetInlineStart: `${Math.min(98, share.baseline_share * 100)}%` }} />
          )}
        </span>
        <span className={classNames(typeStyles.figures, issueStyles.figure, fitStyles.nowrap)}>
          {wholePercentText(share.share)}
        </span>
        <span className={typeStyles.hidden}>{said}</span>
      </button>
    </li>
  )
}
