import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { payloadQuery } from '../../../../api/issue-event-queries.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { CardHeader } from '../../../../ui/card.tsx'
import { CopyButton } from '../../../../ui/copy-button.tsx'
import { Dialog } from '../../../../ui/dialog.tsx'
import { formatSize } from '../../../../ui/format.ts'
import { Segmented } from '../../../../ui/segmented.tsx'
import { Skeleton } from '../../../../ui/skeleton.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { issueTexts } from '../texts.ts'
import { eventsTexts } from './texts.ts'
import { QueryError } from '../../../../frames/query-error.tsx'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import styles from './json.module.css'
import { Spacer } from '../../../../ui/stack.tsx'

type EventJsonProps = { issueId: string; event: Event; onClose: () => void }

/** The event as JSON: as stored, and as the API returns it. */
export function EventJson({ issueId, event, onClose }: EventJsonProps) {
  const [form, setForm] = useState<'stored' | 'shown'>('stored')
  const stored = useQuery(payloadQuery(issueId, event.event_id))
  const shown = useMemo(() => JSON.stringify(event, null, 2), [event])
  const text = form === 'shown' ? shown : (stored.data?.text ?? '')
  const title = issueTexts.jsonTitle(event.event_id.slice(0, 8))
  return (
    <Dialog open bare title={title} onClose={onClose} className={styles.jsondialog}>
      <CardHeader>
        <h2>{title}</h2>
        {form === 'shown' || stored.data === undefined ? null : (
          <Minor>{eventsTexts.size(formatSize(stored.data.size_bytes))}</Minor>
        )}
        <Spacer />
        <Segmented
          size="sm"
          label={eventsTexts.forms}
          value={form}
          options={[
            { value: 'stored', label: eventsTexts.asStored },
            { value: 'shown', label: eventsTexts.asShown },
          ]}
          onChange={setForm}
        />
        <CopyButton size="sm" text={text} said={issueTexts.jsonCopied}>
          {issueTexts.copy}
        </CopyButton>
        <IconButton look="ghost" size="sm" icon="x" label={issueTexts.close} onClick={onClose} />
      </CardHeader>
      {form === 'stored' && stored.error !== null ? (
        <QueryError what={eventsTexts.what} error={stored.error} onRetry={() => void stored.refetch()} />
      ) : text === '' ? (
        <Skeleton heightPx={300} label={title} />
      ) : (
        // Focusable, so that keys can scroll it.
        <pre
          className={classNames(fitStyles.fileText, fitStyles.focusInside)}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          role="region"
          aria-label={title}
        >
          {text}
        </pre>
      )}
    </Dialog>
  )
}
