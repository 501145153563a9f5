import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { recentAlertsQuery } from '../../../api/attention-queries.ts'
import { usePolling } from '../../../api/live.ts'
import { inboxQuery } from '../../../api/member-queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { buttonLook } from '../../../ui/button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { Popover } from '../../../ui/popover.tsx'
import { bellTexts } from './bell-texts.ts'
import styles from './bell.module.css'

const Notifications = lazy(() => import('./notifications.tsx').then((module) => ({ default: module.Notifications })))

/** The highest count that is shown. */
const MAX_COUNT = 99

/** The bell in the top bar: the number of firing alerts, else a dot for unread notifications. */
export function Bell() {
  const [open, setOpen] = useState(false)
  const refetchInterval = usePolling(30_000)
  const inbox = useInfiniteQuery({ ...inboxQuery, refetchInterval })
  const recent = useQuery({ ...recentAlertsQuery, refetchInterval })
  const firing = recent.data?.unread_count ?? 0
  const unread = inbox.data?.pages[0]?.unread_count ?? 0
  useKeys([{ keys: 'b', label: bellTexts.openBell, group: 'General', run: () => setOpen(true) }])
  const label = bellTexts.bell(firing, unread)
  return (
    <Popover
      label={bellTexts.notifications}
      align="end"
      open={open}
      onOpenChange={setOpen}
      className={styles.panel}
      trigger={
        <button
          type="button"
          {...buttonLook({ look: 'ghost', square: true, className: fitStyles.relative })}
          aria-label={label}
          title={`${label} (B)`}
        >
          <Icon name="bell" />
          {firing > 0 ? (
            <span className={styles.count} aria-hidden="true">
              {firing > MAX_COUNT ? `${MAX_COUNT}+` : firing}
            </span>
          ) : unread > 0 ? (
            <span className={styles.dot} aria-hidden="true" />
          ) : null}
        </button>
      }
    >
      <Suspense fallback={<div className={styles.wait} />}>
        <Notifications unread={unread} onClose={() => setOpen(false)} />
      </Suspense>
    </Popover>
  )
}
