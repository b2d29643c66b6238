import { Image, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answer, client } from '../../http/client.ts'

/** The image of an API. The request carries the token, so the browser shows the bytes from a blob: URL. */
export function ApiImage({ id, size, alt }: { id: string; size: number; alt: string }) {
  const { data: blob, isError } = useQuery({
    queryKey: ['api', id, 'image'],
    queryFn: ({ signal }) =>
      answer(
        client.GET('/apis/{api_id}/image', {
          params: { path: { api_id: id } },
          parseAs: 'blob',
          signal,
        }),
      ) as Promise<Blob>,
    staleTime: 60_000,
  })
  const url = useBlobUrl(blob)
  if (isError) return null
  if (!url) return <Skeleton w={size} h={size} />
  return <Image src={url} alt={alt} w={size} h={size} fit="contain" radius="sm" />
}

function useBlobUrl(blob: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!blob) return
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return blob && url
}
