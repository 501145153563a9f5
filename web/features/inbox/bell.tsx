import { useInfiniteQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { usePolling } from '../../api/live.ts'
import { inboxQuery } from '../../api/member-queries.ts'
import { useKeys } from '../../common/keys.ts'
import { buttonLook } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Popover } from '../../ui/popover.tsx'
import { inboxTexts } from './texts.ts'
import styles from './bell.module.css'

const Inbox = lazy(() => import('./inbox.tsx').then((module) => ({ default: module.Inbox })))

/** The highest count that is shown. */
const MAX_COUNT = 99

/** The inbox button in the top bar, with the number of unread notifications. */
export function Bell() {
  const [open, setOpen] = useState(false)
  const inbox = useInfiniteQuery({ ...inboxQuery, refetchInterval: usePolling(30_000) })
  const unread = inbox.data?.pages[0]?.unread_count ?? 0
  useKeys([{ keys: 'b', label: inboxTexts.openInbox, group: 'General', run: () => setOpen(true) }])
  const label = unread === 0 ? inboxTexts.inbox : inboxTexts.inboxUnread(unread)
  return (
    <Popover
      label={inboxTexts.inbox}
      align="end"
      open={open}
      onOpenChange={setOpen}
      className={styles.panel}
      trigger={
        <button
          type="button"
          {...buttonLook({ look: 'ghost', square: true, className: styles.bell })}
          aria-label={label}
          title={`${label} (B)`}
        >
          <Icon name="bell" />
          {unread === 0 ? null : (
            <span className={styles.count} aria-hidden="true">
              {unread > MAX_COUNT ? `${MAX_COUNT}+` : unread}
            </span>
          )}
        </button>
      }
    >
      <Suspense fallback={<div className={styles.wait} />}>
        <Inbox onClose={() => setOpen(false)} />
      </Suspense>
    </Popover>
  )
}
