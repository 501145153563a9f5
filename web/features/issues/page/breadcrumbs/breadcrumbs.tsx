import { useState } from 'react'
import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { Card } from '../../../../ui/card.tsx'
import { Icon } from '../../../../ui/icon.tsx'
import { formatExact } from '../../../../ui/format.ts'
import { Segmented } from '../../../../ui/segmented.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { issueTexts } from '../texts.ts'
import { Values } from '../contexts/value.tsx'
import { cutText, textHeadline } from '../../../../subjects/issue/headline.ts'
import choiceStyles from '../../../../ui/choice.module.css'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import { CRUMB_ICONS, crumbRows, crumbTime, kindsIn, type CrumbKind, type CrumbRow } from './model.ts'
import issueStyles from '../issue.module.css'
import typeStyles from '../../../../ui/type.module.css'
import { Spacer } from '../../../../ui/stack.tsx'

const SHOWN_AT_START = 20
const MAX_SENTENCE = 600

/** The event's breadcrumbs, each with its time before the crash; the crash is last. */
export function Breadcrumbs({ event }: { event: Event }) {
  const [kind, setKind] = useState<CrumbKind | 'all'>('all')
  const [whole, setWhole] = useState(false)
  if (event.breadcrumbs.length === 0) return null
  const kinds = kindsIn(event)
  const rows = crumbRows(event, kind)
  const shown = whole ? rows : rows.slice(-SHOWN_AT_START)
  return (
    <Card
      title={issueTexts.crumbs}
      titleId="h-crumbs"
      header={
        <>
          <Minor>{issueTexts.crumbsShown(shown.length, rows.length)}</Minor>
          <Spacer />
          {kinds.length === 0 ? null : (
            <Segmented
              size="sm"
              label={issueTexts.kinds}
              value={kind}
              options={[
                { value: 'all', label: issueTexts.allKinds },
                ...kinds.map((one) => ({ value: one, label: issueTexts.kind[one] })),
              ]}
              onChange={setKind}
            />
          )}
        </>
      }
    >
      {shown.length === rows.length ? null : (
        <button
          type="button"
          className={classNames(issueStyles.fold, choiceStyles.lightens, fitStyles.icons14)}
          onClick={() => setWhole(true)}
        >
          <Icon name="up" />
          {issueTexts.showEarlier(rows.length - shown.length)}
        </button>
      )}
      <ol className={fitStyles.inset10}>
        {shown.map((row) => (
          <Crumb key={row.key} row={row} crashAt={event.occurred_at} />
        ))}
        <li className={issueStyles.crumb} data-tone="bad">
          <time dateTime={event.occurred_at} title={formatExact(event.occurred_at)}>
            0
          </time>
          <span className={classNames(issueStyles.crumbI, fitStyles.icons12)}>
            <Icon name="warn" />
          </span>
          <span className={classNames(typeStyles.meta, narrowStyles.hiddenAt600)}>
            {event.error_type === null ? issueTexts.eventRow : issueTexts.crash}
          </span>
          <span className={classNames(issueStyles.crumbM, typeStyles.mediumNames, fitStyles.ellipsis)}>
            {event.error_type === null ? event.title : <b>{event.error_type}</b>}{' '}
            {event.error_type === null ? null : textHeadline(event.error_value ?? '')}
          </span>
        </li>
      </ol>
    </Card>
  )
}

function Crumb({ row, crashAt }: { row: CrumbRow; crashAt: string }) {
  const [open, setOpen] = useState(false)
  const { crumb, text } = row
  const data = Object.entries(crumb.data ?? {})
  const time = crumbTime(crumb.timestamp, crashAt)
  return (
    <li className={issueStyles.crumb} data-tone={row.tone} data-open={open || undefined}>
      {crumb.timestamp === null ? (
        <span />
      ) : (
        <time dateTime={crumb.timestamp} title={formatExact(crumb.timestamp)}>
          {time}
        </time>
      )}
      <span className={classNames(issueStyles.crumbI, fitStyles.icons12)}>
        <Icon name={CRUMB_ICONS[row.kind]} />
      </span>
      <span className={classNames(typeStyles.meta, narrowStyles.hiddenAt600)} title={crumb.category ?? crumb.type}>
        {issueTexts.kind[row.kind].toLowerCase()}
      </span>
      <span
        className={classNames(issueStyles.crumbM, typeStyles.mediumNames, fitStyles.ellipsis)}
        title={'sentence' in text ? cutText(text.sentence, MAX_SENTENCE) : undefined}
      >
        {'move' in text ? (
          <>
            {text.move[0]} <i>→</i> {text.move[1]}
          </>
        ) : (
          cutText(text.sentence, MAX_SENTENCE)
        )}
      </span>
      {row.status === null && row.detail === '' ? null : data.length === 0 ? (
        <span className={issueStyles.crumbD}>{row.detail}</span>
      ) : (
        <button
          type="button"
          className={classNames(issueStyles.crumbD, choiceStyles.lightens)}
          aria-expanded={open}
          title={issueTexts.crumbData}
          onClick={() => setOpen(!open)}
        >
          {row.status === null ? null : (
            <span className={row.status.good ? typeStyles.green : typeStyles.red}>{row.status.code} </span>
          )}
          {cutText(row.detail, MAX_SENTENCE)}
        </button>
      )}
      {open ? (
        <div className={classNames(issueStyles.crumbX, narrowStyles.wholeRowAt600)}>
          <Values values={data} />
        </div>
      ) : null}
    </li>
  )
}
