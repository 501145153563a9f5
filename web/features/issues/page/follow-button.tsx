import { Button } from '../../../ui/button.tsx'
import { commentsTexts } from './comments/texts.ts'
import { useFollow } from './follow.ts'

/** Follows or unfollows the issue; its tooltip has the reason. */
export function FollowButton({ issueId }: { issueId: string }) {
  const { isKnown, follows, why, toggle } = useFollow(issueId)
  return (
    <Button icon="bell" aria-pressed={follows} title={why} busy={!isKnown} onClick={toggle}>
      {follows ? commentsTexts.following : commentsTexts.follow}
    </Button>
  )
}
