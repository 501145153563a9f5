import { retryLive, useLiveState } from '../api/live.ts'
import { Button } from '../ui/button.tsx'
import { formatClock, formatLeft } from '../ui/format.ts'
import { LiveText } from '../ui/live-text.tsx'
import { useNow } from '../ui/now.ts'
import { Note } from '../ui/note.tsx'
import { shellTexts } from './texts.ts'
import shellStyles from './shell.module.css'

const BANNER_AFTER_MS = 10_000

/** Whether the data updates automatically. Not announced, because it changes in the background. */
export function LiveMark() {
  const state = useLiveState()
  if (state.name === 'trying') return <LiveText lost>{shellTexts.trying(formatClock(state.since))}</LiveText>
  if (state.name === 'live') return <LiveText title={shellTexts.liveHint}>{shellTexts.live}</LiveText>
  return <LiveText lost>{shellTexts.connecting}</LiveText>
}

/** The banner after ten seconds without the live stream. */
export function LiveBanner() {
  const state = useLiveState()
  return state.name === 'trying' ? <Lost since={state.since} nextTryAt={state.nextTryAt} /> : null
}

function Lost({ since, nextTryAt }: { since: number; nextTryAt: number }) {
  const now = useNow('second')
  if (now - since < BANNER_AFTER_MS) return null
  return (
    <div className={shellStyles.banner}>
      <Note
        tone="amber"
        icon="network"
        role="status"
        action={
          <Button size="sm" onClick={retryLive}>
            {shellTexts.now}
          </Button>
        }
      >
        <b>{shellTexts.lost(formatClock(since))}</b>{' '}
        {/* Hidden from screen readers, which would read the countdown every second. */}
        <span aria-hidden="true">
          {nextTryAt > now ? shellTexts.lostMore(formatLeft(nextTryAt, now)) : shellTexts.lostNow}
        </span>
      </Note>
    </div>
  )
}
