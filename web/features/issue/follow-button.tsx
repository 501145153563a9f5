import { Button } from '../../ui/button.tsx'
import { commentsTexts } from './comments/texts.ts'
import { useFollow } from './follow.ts'

/** Follows an issue or stops it; says why one follows. */
export function FollowButton({ issueId }: { issueId: string }) {
  const { isKnown, follows, why, toggle } = useFollow(issueId)
  return (
    <Button icon="bell" aria-pressed={follows} title={why} busy={!isKnown} onClick={toggle}>
      {follows ? commentsTexts.following : commentsTexts.follow}
    </Button>
  )
}
