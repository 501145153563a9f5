import { useMemo } from 'react'
import type { Event } from '../../server/protocol/event.api.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { issue as words } from '../words/issue.ts'

/** The event as the API answers it. */
export function EventJson({ event, onClose }: { event: Event; onClose: () => void }) {
  const text = useMemo(() => JSON.stringify(event, null, 2), [event])
  const title = words.jsonTitle(event.event_id.slice(0, 8))
  return (
    <Dialog open bare title={title} onClose={onClose} className="jsondialog">
      <header className="card-h">
        <h2>{title}</h2>
        <span className="sp" />
        <CopyButton size="sm" text={text} said={words.jsonCopied}>
          {words.copy}
        </CopyButton>
        <IconButton look="ghost" size="sm" icon="x" label={words.close} onClick={onClose} />
      </header>
      {/* Scrolls inside, which keys must be able to do too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="region" aria-label={title}>
        {text}
      </pre>
    </Dialog>
  )
}
