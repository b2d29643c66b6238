export { type S3BlobStore, s3BlobStore } from './blobs.ts'
export { contentOf, s3Bucket, s3Location } from './bucket.ts'
export { type S3Settings, s3Settings } from './settings.ts'
