import { GUIDE_PATH } from '../address/guide.ts'

const TEXT = 'Read more in the documentation'

/** Leads from an empty state to the page of the documentation that says how to fill it. */
export const GuideLink = ({ page }: { page: string }) => <a href={`${GUIDE_PATH}/${page}`}>{TEXT}</a>
