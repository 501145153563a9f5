import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { recentAlertsQuery } from '../api/attention-queries.ts'
import { setTitleCount } from '../app/page-title.ts'
import { shellTexts } from './texts.ts'
import typeStyles from '../ui/type.module.css'

/** Shows the number of firing alerts in the title of the browser's tab. */
export function useFiringCount(): void {
  const firing = useQuery(recentAlertsQuery).data?.unread_count ?? 0
  useEffect(() => {
    setTitleCount(firing)
    return () => setTitleCount(0)
  }, [firing])
}

/** Announces each critical alert that fires while the dashboard is open, once. */
export function AlertAnnouncer() {
  const { data } = useQuery(recentAlertsQuery)
  const known = useRef<Set<string> | null>(null)
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (data === undefined) return
    const before = known.current
    known.current = new Set([...(before ?? []), ...data.items.map(({ id }) => id)])
    // An alert that fired before the page was opened is not announced.
    const fresh = data.items.filter(
      ({ id, state, severity }) => before?.has(id) === false && state === 'firing' && severity === 'critical',
    )
    if (fresh.length > 0)
      setSaid(fresh.map(({ title, project }) => shellTexts.criticalAlert(title, project.name)).join('. '))
  }, [data])
  return (
    <p className={typeStyles.hidden} aria-live="assertive">
      {said}
    </p>
  )
}
