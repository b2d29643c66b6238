/** The body of a successful response. @throws ProblemError or ConnectionError */
export const answer = async <Given extends { body: unknown }>(
  request: Promise<Given>,
): Promise<Given['body']> => (await request).body

/** The body of a successful response with its entity tag, for `ifMatch`. @throws ProblemError or ConnectionError */
export async function tagged<Body>(
  request: Promise<{ body: Body; etag: string | undefined }>,
): Promise<{ body: Body; etag: string }> {
  const { body, etag = '' } = await request
  return { body, etag }
}
