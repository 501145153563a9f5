import { Button } from '../ui/button.tsx'
import fitStyles from '../ui/fit.module.css'

export type MoreButtonProps = {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }
  children: string
}

/** Loads the next page of a list; absent after the last. */
export const MoreButton = ({ list, children }: MoreButtonProps) =>
  list.hasNextPage ? (
    <Button size="sm" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      {children}
    </Button>
  ) : null

/** The foot of a list with such a button; absent after the last page. */
export const MoreFoot = (props: MoreButtonProps) =>
  props.list.hasNextPage ? (
    <p className={fitStyles.more}>
      <MoreButton {...props} />
    </p>
  ) : null
